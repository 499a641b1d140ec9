#!/usr/bin/python3
"""Publishes messages with header tables given byte by byte, which no client would write by itself.

usage: publish.py URI < LINES

Each line is a JSON object: exchange, routing_key, content_type (may be null), correlation_id, message_id,
headers (hexadecimal: the content of the table) and body (hexadecimal). Every message is mandatory and confirmed; the
script fails where the broker refuses or returns one.
"""
import json
import struct
import sys

import pika


class WireProperties:
    """Basic properties whose header table is taken as it is (AMQP 0-9-1, 4.2.6.1)."""

    INDEX = pika.spec.BasicProperties.INDEX

    def __init__(self, message):
        self.message = message

    @staticmethod
    def short(text):
        data = text.encode("utf-8")
        return struct.pack(">B", len(data)) + data

    def encode(self):
        flags = 0
        pieces = []
        if self.message["content_type"] is not None:
            flags |= 1 << 15
            pieces.append(self.short(self.message["content_type"]))
        table = bytes.fromhex(self.message["headers"])
        flags |= 1 << 13
        pieces.append(struct.pack(">I", len(table)) + table)
        flags |= 1 << 12
        pieces.append(b"\x02")
        flags |= 1 << 10
        pieces.append(self.short(self.message["correlation_id"]))
        flags |= 1 << 7
        pieces.append(self.short(self.message["message_id"]))
        return [struct.pack(">H", flags)] + pieces


connection = pika.BlockingConnection(pika.URLParameters(sys.argv[1]))
channel = connection.channel()
channel.confirm_delivery()
for line in sys.stdin:
    message = json.loads(line)
    channel.basic_publish(
        message["exchange"], message["routing_key"], bytes.fromhex(message["body"]),
        properties=WireProperties(message), mandatory=True)
connection.close()
