"""Pushes with pyapns_client, which knows nothing of the simulator: only address and trust are set from outside.

Reads one JSON object from standard input, see ProviderLibrary.swift, and prints one JSON line per push. The library says
nothing about what was accepted, and raises an exception of its own for each of Apple's reasons.
"""
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from pyapns_client import APNSClient, APNSException, IOSNotification, IOSPayload, IOSPayloadAlert

order = json.load(sys.stdin)
APNSClient.BASE_URLS[APNSClient.MODE_DEV] = f"https://localhost:{order['port']}"
client = APNSClient(
    mode=APNSClient.MODE_DEV, root_cert_path=order.get("authority"), auth_key_path=order["key_file"],
    auth_key_id=order["key_id"], team_id=order["team_id"])


def notification(push):
    if push["type"] == "background":
        payload = IOSPayload(content_available=True)
    else:
        payload = IOSPayload(alert=IOSPayloadAlert(body=push["text"]))
    return IOSNotification(
        payload=payload, topic=order["topic"], apns_id=push["id"], collapse_id=push.get("collapse_id"),
        expiration=str(int(time.time()) + push["lifetime"]) if "lifetime" in push else None,
        priority=str(push["priority"]) if "priority" in push else None, push_type=push["type"])


def send(push):
    try:
        client.push(notification=notification(push), device_token=push["token"])
    except APNSException as error:
        return {"id": error.apns_id or push["id"], "outcome": type(error).__name__, "status": error.status_code,
                "timestamp": getattr(error, "timestamp", None)}
    return {"id": push["id"], "outcome": "accepted", "status": 200}


answers = [send(push) for push in order["one_by_one"]]
with ThreadPoolExecutor(max_workers=max(1, len(order["together"]))) as threads:
    answers += threads.map(send, order["together"])
for answer in answers:
    print(json.dumps(answer))
client.close()
