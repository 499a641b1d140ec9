import Foundation
import Testing

@testable import TraceExport

/// The form is that of OTLP's own example, <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>. A Python
/// collector with OpenTelemetry's own schema reads it in BrokerTests.
@Suite("Requests to a collector", .timeLimit(.minutes(1)))
struct OTLPRequestTests {
    @Test("A request has the process once, and each span with ids in hexadecimal and times as text")
    func form() throws {
        var works = TestSpans.span(0x0102)
        (works.kind, works.failure, works.traceState, works.attributes) = (.consumer, nil, nil, [])
        works.trace = (0, 1)
        works.flags = 3
        let source = SpanSource(service: "pushes", version: "1.2", instance: "w-1")
        let json = OTLPRequest([TestSpans.span(0x00f0_67aa_0ba9_02b7), works], from: source).json
        let found = try #require(try JSONSerialization.jsonObject(with: json) as? NSDictionary)
        func text(_ key: String, _ value: String) -> [String: Any] { ["key": key, "value": ["stringValue": value]] }
        let failed: [String: Any] = [
            "traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "00f067aa0ba902b7",
            "parentSpanId": "b7ad6b7169203331", "traceState": "vendor=1", "flags": 0x101, "name": "apns push",
            "kind": 3, "startTimeUnixNano": "1763712800000000000", "endTimeUnixNano": "1763712800012345000",
            "attributes": [
                text("apns.topic", "com.example.app"),
                ["key": "http.response.status_code", "value": ["intValue": "410"]],
            ], "status": ["code": 2, "message": "Unregistered"] as [String: Any],
        ]
        let worked: [String: Any] = [
            "traceId": "00000000000000000000000000000001", "spanId": "0000000000000102",
            "parentSpanId": "b7ad6b7169203331", "flags": 0x303, "name": "apns push", "kind": 5,
            "startTimeUnixNano": "1763712800000000000", "endTimeUnixNano": "1763712800012345000",
            "attributes": [] as [Any], "status": ["code": 0],
        ]
        let expected: [String: Any] = [
            "resourceSpans": [
                [
                    "resource": [
                        "attributes": [
                            text("service.name", "pushes"), text("service.version", "1.2"),
                            text("service.instance.id", "w-1"),
                        ]
                    ],
                    "scopeSpans": [
                        ["scope": ["name": "martlet", "version": "1.2"], "spans": [failed, worked]] as [String: Any]
                    ],
                ] as [String: Any]
            ]
        ]
        #expect(found == expected as NSDictionary)
    }

    @Test(
        "What an answer means",
        arguments: [
            (200, "{}", ExportAnswer.taken(refused: 0)), (200, "", .taken(refused: 0)),
            (202, #"{"partialSuccess":{}}"#, .taken(refused: 0)),
            (200, #"{"partialSuccess":{"rejectedSpans":"3"}}"#, .taken(refused: 3)),
            (200, #"{"partialSuccess":{"rejectedSpans":4,"errorMessage":"x"}}"#, .taken(refused: 4)),
            (200, #"{"partialSuccess":{"rejectedSpans":"99"}}"#, .taken(refused: 10)),
            (200, #"{"partialSuccess":{"rejectedSpans":-1}}"#, .taken(refused: 0)),
            (200, "<html>", .taken(refused: 0)),
            (429, "", .later("it answered 429")), (502, "", .later("it answered 502")),
            (503, "", .later("it answered 503")), (504, "", .later("it answered 504")),
            (400, "", .refused("it answered 400")), (401, "", .refused("it answered 401")),
            (404, "", .refused("it answered 404")), (500, "", .refused("it answered 500")),
        ])
    func answers(_ status: Int, _ body: String, _ meaning: ExportAnswer) {
        #expect(ExportAnswer(status: status, body: Data(body.utf8), retryAfter: nil, now: 0, count: 10) == meaning)
    }

    @Test(
        "A collector may say how long to wait, in seconds or with a date",
        arguments: [
            ("7", .seconds(7)), ("0", .zero), ("-5", .zero), ("Sun, 06 Nov 1994 08:49:37 GMT", .seconds(60)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", .zero), ("soon", nil), ("", nil), (nil, nil),
        ] as [(String?, Duration?)])
    func waits(_ retryAfter: String?, _ wait: Duration?) {
        let answer = ExportAnswer(status: 503, body: Data(), retryAfter: retryAfter, now: 784_111_717, count: 10)
        #expect(answer == .later("it answered 503", after: wait))
    }
}
