// Consumes results, and prints job id, index, outcome and action of each.
//
// usage: MARTLET_BROKER_URI=amqps://user:password@host/ go run consumer.go <count>      (0: for ever)
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// result has the fields that this program reads. What is null becomes empty, and other fields are ignored.
type result struct {
	MessageID   string `json:"message_id"`
	JobID       string `json:"job_id"`
	Index       int    `json:"index"`
	Outcome     string `json:"outcome"`
	Action      string `json:"action"`
	Reason      string `json:"reason"`
	Detail      string `json:"detail"`
	DeviceToken string `json:"device_token"`
	DeadSince   int64  `json:"token_invalid_since"`
	Topic       string `json:"topic"`
}

// results takes the results of a message: one, or several where results.batch is configured.
func results(delivery amqp.Delivery) ([]result, error) {
	var top result
	if err := json.Unmarshal(delivery.Body, &top); err != nil {
		return nil, err
	}
	if delivery.Type != "apns.results.v1" {
		top.MessageID = delivery.MessageId
		return []result{top}, nil
	}
	var batch struct{ Results []json.RawMessage }
	if err := json.Unmarshal(delivery.Body, &batch); err != nil {
		return nil, err
	}
	all := make([]result, len(batch.Results))
	for i, entry := range batch.Results {
		all[i] = top // what the entry lacks stands at the top
		if err := json.Unmarshal(entry, &all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

const remembered = 100_000

var (
	outcomes = map[string]int{
		"accepted": 0, "dead_token": 0, "rejected": 0, "expired": 0, "exhausted": 0, "unknown": 0, "invalid": 0,
		"cancelled": 0,
	}
	handled, count int
	// A real program keeps the ids of results for a day in its database, and writes them with what it does.
	seen, before = map[string]bool{}, map[string]bool{}
)

// handle does what the action says.
func handle(r result) {
	var advice string
	switch r.Action {
	case "none":
	case "drop_token":
		// Mark it now, and delete it an hour later unless a hold of the route came meanwhile:
		// UPDATE device_tokens SET dead_since = COALESCE(:token_invalid_since, :finished_at)
		// WHERE token = :device_token AND topic = :topic AND environment = :environment
		// AND registered_at <= COALESCE(:token_invalid_since, :finished_at)
		advice = fmt.Sprintf("forget the device token, dead since %d", r.DeadSince)
	case "hold":
		advice = "delete nothing, tell the operator"
	case "fix_request", "fix_topic", "fix_credential":
		advice = r.Action + ": " + r.Reason + ", " + r.Detail
	case "replay":
		advice = "publish it again when the trouble is over"
	case "check":
		advice = "find out whether the push arrived"
	default:
		advice = "unknown action " + r.Action
	}
	if advice != "" {
		log.Printf("job %s index %d: %s", r.JobID, r.Index, advice)
	}
	fmt.Println(r.JobID, r.Index, r.Outcome, r.Action)
	if _, known := outcomes[r.Outcome]; known {
		outcomes[r.Outcome]++
	} else {
		outcomes["other"]++
	}
	handled++
}

// consume takes results until there are enough, or the connection, the channel or the consumer ends.
func consume(queue string) error {
	connection, err := amqp.Dial(os.Getenv("MARTLET_BROKER_URI"))
	if err != nil {
		return err
	}
	defer connection.Close()
	channel, err := connection.Channel()
	if err != nil {
		return err
	}
	if err := channel.Qos(200, 0, false); err != nil {
		return err
	}
	deliveries, err := channel.Consume(queue, "", false, false, false, false, nil)
	if err != nil {
		return err
	}
	for delivery := range deliveries {
		all, err := results(delivery)
		if err != nil {
			log.Fatal(err)
		}
		for _, r := range all {
			key := r.MessageID + " " + r.Outcome
			if seen[key] || before[key] {
				continue
			}
			handle(r)
			if len(seen) == remembered {
				seen, before = map[string]bool{}, seen
			}
			seen[key] = true
		}
		if err := delivery.Ack(false); err != nil { // only now: what is not handled comes again
			return err
		}
		if count > 0 && handled >= count {
			return nil
		}
	}
	return errors.New("the consumer ended")
}

func main() {
	var err error
	if len(os.Args) != 2 {
		log.Fatal("usage: consumer <count>")
	} else if count, err = strconv.Atoi(os.Args[1]); err != nil {
		log.Fatal(err)
	}
	queue := os.Getenv("MARTLET_RESULTS_QUEUE")
	if queue == "" {
		queue = "apns.q.results"
	}
	for pause := time.Second; ; {
		earlier := handled
		err := consume(queue)
		if err == nil {
			break
		}
		if handled > earlier {
			pause = time.Second
		} else if pause < 30*time.Second {
			pause *= 2
		}
		log.Printf("lost the broker, again in %v: %v", pause, err)
		time.Sleep(pause)
	}
	log.Println("outcomes:", outcomes)
}
