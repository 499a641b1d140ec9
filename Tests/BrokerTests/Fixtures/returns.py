#!/usr/bin/python3
"""Gives one message back to its queue again and again, in each way a client can, until RabbitMQ dead-letters it.

usage: returns.py URI < LINES
A line is JSON: exchange, key, queue, dead (where dead letters arrive), most (how often it is given back at most).
Prints JSON: RabbitMQ's version, and for each way how many deliveries there were and why the message was dead-lettered; null
where it never was.
"""
import json, sys

import pika

URI, ASKED = sys.argv[1], json.loads(sys.stdin.readline())


def connect():
    return pika.BlockingConnection(pika.URLParameters(URI))


def dead(channel):
    """Why the dead letter is there; None without one."""
    for _ in range(25):
        method, properties, _ = channel.basic_get(ASKED["dead"])
        if method:
            channel.basic_ack(method.delivery_tag)
            return properties.headers["x-first-death-reason"]
        channel.connection.sleep(0.02)
    return None


def deliveries(connection):
    """Deliveries of the queue to a consumer with a prefetch of one, until none comes for a moment."""
    channel = connection.channel()
    channel.basic_qos(prefetch_count=1)
    for method, _, _ in channel.consume(ASKED["queue"], inactivity_timeout=0.5):
        if not method:
            return
        yield channel, method.delivery_tag


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
    reason = dead(channel)
    if reason is None:
        channel.queue_purge(ASKED["queue"])
    connection.close()
    return {"deliveries": count, "reason": reason}


probe = connect()
version = probe._impl.server_properties["version"]
probe.close()
print(json.dumps({"version": version if isinstance(version, str) else version.decode(),
                  "ways": {way: give_back(way) for way in ("reject", "nack", "channel", "connection")}}))
