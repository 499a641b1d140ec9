"""A collector of traces that reads spans with OpenTelemetry's own schema, and refuses what does not fit it.

usage: collector.py PORT FILE      each span becomes a line of JSON in FILE
"""
import base64, http.server, json, sys

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2


def in_base64(tree):
    """OTLP's JSON differs from that of Protobuf in one point: ids are hexadecimal. Protobuf reads base64."""
    if isinstance(tree, list):
        return [in_base64(entry) for entry in tree]
    if isinstance(tree, dict):
        ids = ("traceId", "spanId", "parentSpanId")
        return {key: base64.b64encode(bytes.fromhex(value)).decode() if key in ids else in_base64(value)
                for key, value in tree.items()}
    return tree


def value(any_value):
    return getattr(any_value, any_value.WhichOneof("value"))


def attributes(entries):
    return {entry.key: value(entry.value) for entry in entries}


class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            assert self.path == "/base/v1/traces", self.path
            assert self.headers["Content-Type"] == "application/json"
            request = json_format.ParseDict(in_base64(json.loads(body)), trace_service_pb2.ExportTraceServiceRequest())
            lines = [self.line(resource, span) for resource in request.resource_spans
                     for scope in resource.scope_spans for span in scope.spans]
        except Exception as error:
            lines = [json.dumps({"error": repr(error), "body": body.decode()})]
        with open(sys.argv[2], "a") as file:
            file.writelines(line + "\n" for line in lines)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def line(self, resource, span):
        assert len(span.trace_id) == 16 and len(span.span_id) == 8 and len(span.parent_span_id) == 8
        assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano
        return json.dumps({
            "trace": span.trace_id.hex(), "id": span.span_id.hex(), "parent": span.parent_span_id.hex(),
            "state": span.trace_state, "name": span.name, "kind": span.kind, "start": span.start_time_unix_nano,
            "end": span.end_time_unix_nano, "attributes": {k: str(v) for k, v in attributes(span.attributes).items()},
            "resource": attributes(resource.resource.attributes), "status": span.status.code,
            "message": span.status.message})

    def log_message(self, *arguments):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Collector).serve_forever()
