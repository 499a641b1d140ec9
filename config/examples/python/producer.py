#!/usr/bin/env python3
"""Publishes one job per device token, and prints the id of each job that the broker has confirmed.

usage: MARTLET_BROKER_URI=amqps://user:password@host/ producer.py <topic> <device token>...
"""
import json
import os
import sys
import time
import uuid

import pika
from pika.exceptions import AMQPError, ChannelClosedByBroker, NackError, UnroutableError

ATTEMPTS = 8

if len(sys.argv) < 3:
    sys.exit(__doc__)
parameters = pika.URLParameters(os.environ["MARTLET_BROKER_URI"])
parameters.blocked_connection_timeout = 60  # seconds; a broker short of memory or disk takes nothing
environment = os.environ.get("MARTLET_ENVIRONMENT", "development")
topic, *device_tokens = sys.argv[1:]

# The id is made before the first attempt and the deadline stays: whatever is published twice is recognised by its id
# and expires at one time.
pending = {}
for device_token in device_tokens:
    now = int(time.time() * 1000)
    properties = pika.BasicProperties(
        message_id=str(uuid.uuid4()), content_type="application/json", delivery_mode=2,
        headers={"x-apns-enqueued-at": now, "x-apns-deadline": now + 3_600_000})
    body = json.dumps({"device_token": device_token, "payload": {"aps": {"alert": "Order shipped"}}})
    pending[properties.message_id] = (properties, body)


def publish_pending():
    with pika.BlockingConnection(parameters) as connection:
        channel = connection.channel()
        channel.confirm_delivery()  # from here on basic_publish waits for the broker's answer
        for job_id, (properties, body) in list(pending.items()):
            try:
                channel.basic_publish("apns.jobs", f"{environment}.normal.{topic}", body, properties, mandatory=True)
            except NackError:
                continue  # the route's queue is full: it stays pending
            del pending[job_id]
            print(job_id, flush=True)


for attempt in range(ATTEMPTS):
    try:
        publish_pending()
        problem = "the queue is full"
    except UnroutableError:
        sys.exit("The broker returned a job. Run: martlet topology check")
    except ChannelClosedByBroker as refusal:
        sys.exit(f"The broker refuses jobs, 403 or 404. Run: martlet topology apply. It said: {refusal}")
    except (AMQPError, OSError) as error:
        problem = repr(error)
    if not pending:
        sys.exit(0)
    pause = min(2**attempt, 30)
    print(f"{len(pending)} jobs not confirmed, {problem}; again in {pause} s", file=sys.stderr)
    time.sleep(pause)
sys.exit(1)
