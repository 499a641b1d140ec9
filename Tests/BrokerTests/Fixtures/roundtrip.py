#!/usr/bin/python3
"""A producer and its monitoring as they are written in Python: publishes three jobs and reads what became of them.

usage: roundtrip.py URI

Prints one JSON object per result, then one per reply, and fails where one does not come within 30 seconds.
"""
import decimal
import json
import sys
import time

import pika

GOOD = "0a" * 32
DEAD = "dead0410" + "0b" * 28
KEY = "development.normal.com.example.app"

connection = pika.BlockingConnection(pika.URLParameters(sys.argv[1]))
channel = connection.channel()
channel.confirm_delivery()
tap = channel.queue_declare("", exclusive=True).method.queue
channel.queue_bind(tap, "apns.results", "#")
reply_to = "apns.q.reply.guest.pika"
replies = channel.queue_declare(reply_to, exclusive=True).method.queue
channel.queue_bind(replies, "apns.replies", reply_to)


def publish(message_id, content_type, body, headers=None):
    channel.basic_publish(
        "apns.jobs", KEY, body, mandatory=True,
        properties=pika.BasicProperties(
            content_type=content_type, delivery_mode=2, message_id=message_id, correlation_id="c-" + message_id,
            reply_to=reply_to, timestamp=int(time.time()), app_id="roundtrip", headers=headers))


publish(
    "pika-raw", "application/vnd.apns.payload+json", b'{"aps":{"alert":"hello"}}',
    {"apns-device-token": bytes.fromhex(GOOD), "apns-priority": 5, "apns-expiration": int(time.time()) + 3600,
     "apns-topic": "com.example.app", "ratio": decimal.Decimal("0.5"), "nested": {"list": [1, "two", None, True]}})
publish(
    "pika-enveloped", "application/json",
    json.dumps({"device_token": GOOD, "payload": {"aps": {"alert": "h\u00e9llo"}}, "reference": "ref"}))
publish(
    "pika-multicast", "application/json; charset=utf-8",
    json.dumps({"device_tokens": [GOOD, DEAD], "payload": {"aps": {"alert": "hello"}}}, ensure_ascii=False))


def read(queue, count):
    for method, properties, body in channel.consume(queue, inactivity_timeout=30):
        if method is None:
            sys.exit("no message in %s for 30 seconds" % queue)
        channel.basic_ack(method.delivery_tag)
        print(json.dumps({
            "exchange": method.exchange, "routing_key": method.routing_key, "type": properties.type,
            "correlation_id": properties.correlation_id, "message_id": properties.message_id,
            "content_type": properties.content_type, "delivery_mode": properties.delivery_mode,
            "outcome": properties.headers["x-apns-outcome"], "attempt": properties.headers["x-apns-attempt"],
            "result": json.loads(body)}))
        count -= 1
        if count == 0:
            break
    channel.cancel()


read(tap, 4)
read(replies, 4)
connection.close()
