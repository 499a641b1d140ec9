#!/usr/bin/python3
"""Gives one message back to its queue again and again, in each way a client can, until RabbitMQ dead-letters it.

usage: returns.py URI < LINES
A line is JSON: exchange, key, queue, dead (where dead letters arrive), most (how often it is given back at most).
Prints JSON: RabbitMQ's version, and for each way how many deliveries there were and why the message was dead-lettered; null
where it never was.
"""
import json, sys, time

import pika

URI, ASKED = sys.argv[1], json.loads(sys.stdin.readline())
# For how long a broker may do nothing, in seconds.
PATIENCE = 30


def connect():
    return pika.BlockingConnection(pika.URLParameters(URI))


def dead(channel):
    """Why the dead letter is there; None without one after half a minute."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        method, properties, _ = channel.basic_get(ASKED["dead"])
        if method:
            channel.basic_ack(method.delivery_tag)
            return properties.headers["x-first-death-reason"]
        channel.connection.sleep(0.02)
    return None


def take(channel):
    """Takes the message that is no dead letter out of its queue, as soon as it is there again."""
    for method, _, _ in channel.consume(ASKED["queue"], inactivity_timeout=PATIENCE):
        if method:
            channel.basic_ack(method.delivery_tag)
        break
    channel.cancel()


def deliveries(connection):
    """Deliveries of the queue to a consumer with a prefetch of one, until the message is a dead letter."""
    channel = connection.channel()
    channel.basic_qos(prefetch_count=1)
    until = time.monotonic() + PATIENCE
    for method, _, _ in channel.consume(ASKED["queue"], inactivity_timeout=0.1):
        if method:
            until = time.monotonic() + PATIENCE
            yield channel, method.delivery_tag
        elif time.monotonic() > until or channel.queue_declare(ASKED["dead"], passive=True).method.message_count:
            return


def settle(way):
    """Gives the message back with a method, to the same consumer again and again."""
    count, connection = 0, connect()
    for channel, tag in deliveries(connection):
        count += 1
        if count == ASKED["most"]:
            break
        (channel.basic_reject if way == "reject" else channel.basic_nack)(tag, requeue=True)
    connection.close()
    return count


def lose(way):
    """Gives the message back by closing what it was delivered on."""
    count, connection = 0, connect()
    while count < ASKED["most"]:
        if not connection.is_open:
            connection = connect()
        channel, _ = next(deliveries(connection), (None, None))
        if not channel:
            break
        count += 1
        (channel if way == "channel" else connection).close()
    if connection.is_open:
        connection.close()
    return count


def give_back(way):
    connection = connect()
    channel = connection.channel()
    channel.confirm_delivery()
    channel.basic_publish(ASKED["exchange"], ASKED["key"], b"{}", mandatory=True)
    count = settle(way) if way in ("reject", "nack") else lose(way)
    reason = take(channel) if count == ASKED["most"] else dead(channel)
    connection.close()
    return {"deliveries": count, "reason": reason}


probe = connect()
version = probe._impl.server_properties["version"]
probe.close()
print(json.dumps({"version": version if isinstance(version, str) else version.decode(),
                  "ways": {way: give_back(way) for way in ("reject", "nack", "channel", "connection")}}))
