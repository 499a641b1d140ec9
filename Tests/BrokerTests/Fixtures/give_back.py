#!/usr/bin/env python3
"""Takes one message of a queue and gives it back to the queue (`basic.nack`), as workers do; prints its headers then.

Argument: the broker's URI. Standard input: the queue's name.
"""

import json
import sys

import pika

connection = pika.BlockingConnection(pika.URLParameters(sys.argv[1]))
channel = connection.channel()
queue = sys.stdin.read()
channel.basic_qos(prefetch_count=1)
seen = 0
for method, properties, _ in channel.consume(queue, inactivity_timeout=20):
    if method is None:
        sys.exit("nothing came")
    seen += 1
    if seen == 2:
        headers = properties.headers or {}
        print(json.dumps({name: headers[name] for name in headers if name in ("x-delivery-count", "x-acquired-count")}))
    channel.basic_nack(method.delivery_tag, requeue=True)
    if seen == 2:
        break
channel.cancel()
connection.close()
