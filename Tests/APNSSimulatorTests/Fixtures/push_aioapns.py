"""Pushes with aioapns, which knows nothing of the simulator: only address and trust are set from outside.

Reads one JSON object from standard input, see ProviderLibrary.swift, and prints one JSON line per push. What the library
makes of an answer is a result of its own: the status, Apple's reason as a description, and a timestamp.
"""
import asyncio
import json
import ssl
import sys

import aioapns
from aioapns.connection import APNsDevelopmentClientProtocol
from aioapns.exceptions import MaxAttemptsExceeded


def request(push):
    aps = {"content-available": 1} if push["type"] == "background" else {"alert": push["text"]}
    return aioapns.NotificationRequest(
        device_token=push["token"], message={"aps": aps}, notification_id=push["id"], time_to_live=push.get("lifetime"),
        priority=push.get("priority"), collapse_key=push.get("collapse_id"), push_type=aioapns.PushType(push["type"]))


async def main(order):
    APNsDevelopmentClientProtocol.APNS_SERVER = "localhost"
    APNsDevelopmentClientProtocol.APNS_PORT = order["port"]
    trust = ssl.create_default_context(cafile=order.get("authority"))
    complaints = []

    async def complain(request, result):
        complaints.append(request.notification_id)

    if order.get("certificate_file"):
        credential = {"client_cert": order["certificate_file"]}
    else:
        with open(order["key_file"], encoding="ascii") as file:
            credential = {"key": file.read(), "key_id": order["key_id"], "team_id": order["team_id"],
                          "topic": order["topic"]}
    client = aioapns.APNs(
        **credential, use_sandbox=True, max_connections=1, max_connection_attempts=1, ssl_context=trust,
        err_func=complain)

    async def send(push):
        try:
            result = await client.send_notification(request(push))
        except MaxAttemptsExceeded:
            return {"id": push["id"], "outcome": "MaxAttemptsExceeded"}
        assert result.is_successful != (push["id"] in complaints)
        return {"id": result.notification_id, "outcome": result.description or "accepted",
                "status": int(result.status), "timestamp": result.timestamp}

    answers = [await send(push) for push in order["one_by_one"]]
    answers += await asyncio.gather(*(send(push) for push in order["together"]))
    for answer in answers:
        print(json.dumps(answer))


asyncio.run(main(json.load(sys.stdin)))
