// Publishes one job per device token, and prints the id of each job that the broker has confirmed.
//
// usage: MARTLET_BROKER_URI=amqps://user:password@host/ go run producer.go <topic> <device token>...
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// newJob makes id and deadline, which stay the same on every attempt to publish the job.
func newJob(deviceToken string) amqp.Publishing {
	var id [16]byte
	rand.Read(id[:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // a UUID of version 4
	payload := map[string]any{"aps": map[string]any{"alert": "Order shipped"}}
	body, err := json.Marshal(map[string]any{"device_token": deviceToken, "payload": payload})
	if err != nil {
		log.Fatal(err)
	}
	now := time.Now().UnixMilli()
	return amqp.Publishing{
		MessageId:   fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]),
		ContentType: "application/json", DeliveryMode: amqp.Persistent, Body: body,
		Headers: amqp.Table{"x-apns-enqueued-at": now, "x-apns-deadline": now + time.Hour.Milliseconds()},
	}
}

// publish returns the jobs that the broker has not confirmed.
func publish(key string, jobs []amqp.Publishing) (rest []amqp.Publishing, err error) {
	connection, err := amqp.Dial(os.Getenv("MARTLET_BROKER_URI"))
	if err != nil {
		return jobs, err
	}
	defer connection.Close()
	channel, err := connection.Channel()
	if err != nil {
		return jobs, err
	}
	if err := channel.Confirm(false); err != nil {
		return jobs, err
	}
	confirms := channel.NotifyPublish(make(chan amqp.Confirmation, 1))
	returns := channel.NotifyReturn(make(chan amqp.Return, 1))
	closed := channel.NotifyClose(make(chan *amqp.Error, 1))
	for i, job := range jobs {
		if err := channel.PublishWithContext(context.Background(), "apns.jobs", key, true, false, job); err != nil {
			return append(rest, jobs[i:]...), err
		}
		select {
		case confirm, open := <-confirms:
			if !open {
				return append(rest, jobs[i:]...), <-closed
			} else if len(returns) > 0 { // a return comes before its confirm
				log.Fatal("the broker returned a job; run: martlet topology check")
			} else if confirm.Ack {
				fmt.Println(job.MessageId)
			} else {
				rest = append(rest, job)
				err = errors.New("the queue is full")
			}
		case <-time.After(30 * time.Second):
			return append(rest, jobs[i:]...), errors.New("no confirm for 30 s")
		}
	}
	return rest, err
}

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: producer <topic> <device token>...")
	}
	environment := os.Getenv("MARTLET_ENVIRONMENT")
	if environment == "" {
		environment = "development"
	}
	var pending []amqp.Publishing
	for _, deviceToken := range os.Args[2:] {
		pending = append(pending, newJob(deviceToken))
	}
	for pause := time.Second; pause < 200*time.Second; pause *= 2 {
		var err error
		pending, err = publish(environment+".normal."+os.Args[1], pending)
		if len(pending) == 0 {
			return
		}
		var refusal *amqp.Error
		if errors.As(err, &refusal) && (refusal.Code == amqp.NotFound || refusal.Code == amqp.AccessRefused) {
			log.Fatalf("the broker refuses jobs; run: martlet topology apply: %v", err)
		}
		log.Printf("%d jobs not confirmed, again in %v: %v", len(pending), pause, err)
		time.Sleep(pause)
	}
	os.Exit(1)
}
