#!/usr/bin/python3
"""Publishes jobs over AMQP 1.0, byte by byte: there is no client library for it among Debian's packages that tests need.

usage: amqp1.py URI < LINES
A line is JSON: key, token. Publishes one raw job of each kind to apns.jobs, with the kind as correlation id, and prints
the kinds, one a line. Prints nothing where the broker does not speak AMQP 1.0 by itself (before 4.0).
"""
import json, socket, struct, sys
from urllib.parse import unquote, urlsplit

import pika

URI = urlsplit(sys.argv[1])
ASKED = json.loads(sys.stdin.readline())
CONTENT = "application/vnd.apns.payload+json"
PAYLOAD = b'{"aps":{"alert":"x"}}'
NULL, FALSE = b"\x40", b"\x42"


def binary(value):
    return b"\xb0" + struct.pack(">I", len(value)) + value


def text(value):
    value = value.encode()
    return b"\xb1" + struct.pack(">I", len(value)) + value


def symbol(value):
    value = value.encode()
    return b"\xb3" + struct.pack(">I", len(value)) + value


def unsigned(value):
    return b"\x70" + struct.pack(">I", value)


def small(value):
    return bytes([0x50, value])


def items(*values):
    content = b"".join(values)
    return b"\xd0" + struct.pack(">II", len(content) + 4, len(values)) + content


def pairs(entries):
    content = b"".join(text(name) + value for name, value in entries)
    return b"\xd1" + struct.pack(">II", len(content) + 4, 2 * len(entries)) + content


def described(code, value):
    return b"\x00\x53" + bytes([code]) + value


class Link:
    """A connection with one session and one sender."""

    def __init__(self, address):
        self.socket = socket.create_connection((URI.hostname, URI.port), timeout=20)
        self.sent = 0
        self.open(b"AMQP\x03\x01\x00\x00")
        self.receive()
        login = f"\0{URI.username}\0{URI.password}".encode()
        self.send(described(0x41, items(symbol("PLAIN"), binary(login), NULL)), kind=1)
        self.receive()
        self.open(b"AMQP\x00\x01\x00\x00")
        self.send(described(0x10, items(text("martlet-tests"), text("vhost:" + unquote(URI.path[1:])))))
        self.receive()
        self.send(described(0x11, items(NULL, unsigned(0), unsigned(1000), unsigned(1000))))
        self.receive()
        source, target = described(0x28, items(NULL)), described(0x29, items(text(address)))
        self.send(described(0x12, items(
            text("jobs"), unsigned(0), FALSE, small(2), small(0), source, target, NULL, NULL, unsigned(0))))
        # The sender may send after the broker's flow.
        while self.receive()[2:5] != b"\x00\x53\x13":
            pass

    def open(self, greeting):
        self.socket.sendall(greeting)
        self.exactly(8)

    def exactly(self, count):
        found = b""
        while len(found) < count:
            more = self.socket.recv(count - len(found))
            if not more:
                sys.exit("the broker closed the connection")
            found += more
        return found

    def send(self, performative, payload=b"", kind=0):
        content = performative + payload
        self.socket.sendall(struct.pack(">IBBH", 8 + len(content), 2, kind, 0) + content)

    def receive(self):
        """A frame without its length: data offset, kind, channel, performative."""
        frame = self.exactly(struct.unpack(">I", self.exactly(4))[0] - 4)
        return frame[2:]

    def publish(self, kind, identity, token, body):
        tag = struct.pack(">I", self.sent)
        properties = described(0x73, items(identity, NULL, NULL, NULL, NULL, text(kind), symbol(CONTENT)))
        headers = described(0x74, pairs([("apns-device-token", token)]))
        transfer = described(0x14, items(unsigned(0), unsigned(self.sent), binary(tag), unsigned(0), FALSE, FALSE))
        self.send(transfer, properties + headers + body)
        self.sent += 1
        # The broker settles it (disposition) once its queue has it.
        while self.receive()[2:5] != b"\x00\x53\x15":
            pass


connection = pika.BlockingConnection(pika.URLParameters(sys.argv[1]))
version = connection._impl.server_properties["version"]
connection.close()
if int(version.split(".")[0]) < 4:
    sys.exit(0)
link = Link("/exchanges/apns.jobs/" + ASKED["key"])
token = text(ASKED["token"])
data = described(0x75, binary(PAYLOAD))
halves = described(0x75, binary(PAYLOAD[:5])) + described(0x75, binary(PAYLOAD[5:]))
for kind, identity, its_token, body in [
    ("data", text("data"), token, data),
    ("halves", text("halves"), token, halves),
    ("value", text("value"), token, described(0x77, text(PAYLOAD.decode()))),
    ("sequence", text("sequence"), token, described(0x76, items(text("x")))),
    ("binary token", text("binary token"), binary(bytes(range(32))), data),
    ("binary id", binary(b"\x00\xff"), token, data),
]:
    link.publish(kind, identity, its_token, body)
    print(kind)
