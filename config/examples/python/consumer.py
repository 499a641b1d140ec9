#!/usr/bin/env python3
"""Consumes results, and prints job id, index, outcome and action of each.

usage: MARTLET_BROKER_URI=amqps://user:password@host/ consumer.py <count>      (0: for ever)
"""
import collections
import json
import os
import sys
import time

import pika

QUEUE = os.environ.get("MARTLET_RESULTS_QUEUE", "apns.q.results")
OUTCOMES = {"accepted", "dead_token", "rejected", "expired", "exhausted", "unknown", "invalid", "cancelled"}
REMEMBERED = 100_000


def results(properties, body):
    """The results of a message with their ids: one, or several where results.batch is configured."""
    top = json.loads(body)
    if properties.type != "apns.results.v1":
        return [(properties.message_id, top)]
    return [(entry["message_id"], {**top, **entry}) for entry in top["results"]]


if len(sys.argv) != 2:
    sys.exit(__doc__)
outcomes = collections.Counter()
# A real program keeps these ids for a day in its database, and writes them with what it does about a result.
seen = collections.OrderedDict()


def handle(result):
    """Does what the action says. Fields that this program does not know stay unread."""
    action, where = result["action"], f"job {result['job_id']} index {result['index']}"
    outcomes[result["outcome"] if result["outcome"] in OUTCOMES else "other"] += 1
    if action == "drop_token":
        # Mark it now, and delete it an hour later unless a hold of the route came meanwhile:
        # UPDATE device_tokens SET dead_since = COALESCE(:token_invalid_since, :finished_at)
        # WHERE token = :device_token AND topic = :topic AND environment = :environment
        # AND registered_at <= COALESCE(:token_invalid_since, :finished_at)
        print(f"{where}: forget the device token, dead since {result['token_invalid_since']}", file=sys.stderr)
    elif action == "hold":
        print(f"{where}: delete nothing, tell the operator of route {result['route']}", file=sys.stderr)
    elif action.startswith("fix_"):
        print(f"{where}: {action}: {result['reason']}, {result['detail']}", file=sys.stderr)
    elif action == "replay":
        print(f"{where}: publish it again when the trouble is over", file=sys.stderr)
    elif action == "check":
        print(f"{where}: find out whether the push arrived", file=sys.stderr)
    elif action != "none":
        print(f"{where}: unknown action {action}", file=sys.stderr)
    print(result["job_id"], result["index"], result["outcome"], action, flush=True)


def consume(count):
    """Takes results until there are `count` of them, or the connection, the channel or the consumer ends."""
    with pika.BlockingConnection(pika.URLParameters(os.environ["MARTLET_BROKER_URI"])) as connection:
        channel = connection.channel()
        channel.basic_qos(prefetch_count=200)
        for method, properties, body in channel.consume(QUEUE):
            for message_id, result in results(properties, body):
                key = (message_id, result["outcome"])
                if key not in seen:
                    handle(result)
                    seen[key] = True
                    if len(seen) > REMEMBERED:
                        seen.popitem(last=False)
            channel.basic_ack(method.delivery_tag)  # only now: what is not handled comes again
            if 0 < count <= outcomes.total():
                return


count, pause = int(sys.argv[1]), 1
while count == 0 or outcomes.total() < count:
    before = outcomes.total()
    try:
        consume(count)
    except (pika.exceptions.AMQPError, OSError) as error:
        pause = 1 if outcomes.total() > before else min(2 * pause, 30)
        print(f"Lost the broker, {error!r}; again in {pause} s", file=sys.stderr)
        time.sleep(pause)
print("Outcomes:", dict(outcomes), file=sys.stderr)
