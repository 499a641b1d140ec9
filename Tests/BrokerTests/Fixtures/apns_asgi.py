"""A server in APNs's place that is not ours: an application for any ASGI server that speaks HTTP/2.

The first digits of a device token choose the answers to its pushes, one after the other, the last one again and again;
GET /seen tells what was pushed.
"""
import json

ANSWERS = {
    "400": [(400, {}, {"reason": "BadCollapseId"})],
    "410": [(410, {}, {"reason": "Unregistered", "timestamp": 1763700000123})],
    "4291": [(429, {"retry-after": "1"}, {"reason": "TooManyRequests"}), (200, {}, None)],
    "4299": [(429, {"retry-after": "99"}, {"reason": "TooManyRequests"})],
    "503": [(503, {}, {"reason": "ServiceUnavailable"}), (200, {}, None)],
    "": [(200, {}, None)],
}

seen = []


def answer(token):
    answers = next(answers for digits, answers in ANSWERS.items() if token.startswith(digits))
    earlier = sum(push["token"] == token for push in seen)
    return answers[min(earlier, len(answers) - 1)]


async def body_of(receive):
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return body


async def app(scope, receive, send):
    if scope["type"] != "http":
        raise NotImplementedError(scope["type"])
    body = await body_of(receive)
    headers = {name.decode(): value.decode() for name, value in scope["headers"]}
    fields = {}
    if scope["method"] == "GET" and scope["path"] == "/seen":
        status, content = 200, seen
    elif scope["method"] == "POST" and scope["path"].startswith("/3/device/"):
        token = scope["path"].removeprefix("/3/device/")
        status, fields, content = answer(token)
        fields = {**fields, "apns-id": headers["apns-id"]}
        seen.append({
            "token": token, "http": scope["http_version"], "topic": headers.get("apns-topic"),
            "id": headers["apns-id"], "bearer": headers.get("authorization", "").startswith("bearer "),
            "body": body.decode()})
    else:
        status, content = 404, {"reason": "BadPath"}
    data = b"" if content is None else json.dumps(content).encode()
    await send({"type": "http.response.start", "status": status,
                "headers": [(name.encode(), value.encode()) for name, value in fields.items()]})
    await send({"type": "http.response.body", "body": data})
