"""Pushes with the Python library h2, many at once, and reads no answer before all is sent.

Reads one JSON object from standard input: port, authority, authorization, topic, token, pushes. Prints how many pushes
were answered 200, and the last stream of the GOAWAY. A client that goes on to send after the GOAWAY, with a small receive
buffer, is how answers are lost that a server destroys when it closes.
"""
import json
import socket
import ssl
import sys

import h2.config
import h2.connection
import h2.events

order = json.load(sys.stdin)
raw = socket.socket()
raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
raw.settimeout(20)
raw.connect(("127.0.0.1", order["port"]))
trust = ssl.create_default_context(cafile=order["authority"])
trust.set_alpn_protocols(["h2"])
connection = trust.wrap_socket(raw, server_hostname="localhost")
http = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
answered, last = set(), None


def take(data):
    """Counts what has come; returns whether the server's SETTINGS are among it."""
    global last
    settings = False
    for event in http.receive_data(data):
        if isinstance(event, h2.events.RemoteSettingsChanged):
            settings = True
        elif isinstance(event, h2.events.ResponseReceived) and dict(event.headers)[b":status"] == b"200":
            answered.add(event.stream_id)
        elif isinstance(event, h2.events.ConnectionTerminated):
            last = event.last_stream_id
    return settings


http.initiate_connection()
connection.sendall(http.data_to_send())
while not take(connection.recv(65536)):
    pass
connection.sendall(http.data_to_send())
head = [(":method", "POST"), (":scheme", "https"), (":path", "/3/device/" + order["token"]),
        (":authority", "localhost"), ("authorization", order["authorization"]), ("apns-topic", order["topic"]),
        ("apns-push-type", "alert")]
for _ in range(order["pushes"]):
    stream = http.get_next_available_stream_id()
    http.send_headers(stream, head)
    http.send_data(stream, b'{"aps":{"alert":"hello"}}', end_stream=True)
try:
    connection.sendall(http.data_to_send())
except OSError:
    # The server is gone; what it said before may still be read.
    pass
try:
    while data := connection.recv(65536):
        take(data)
except OSError:
    pass
print(json.dumps({"answered": len(answered), "last": last}))
