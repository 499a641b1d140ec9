@testable import TraceExport

/// Spans that are told apart by their ids.
enum TestSpans {
    /// A span of an ordinary push.
    static func span(_ id: UInt64) -> TraceSpan {
        TraceSpan(
            trace: (0x0af7_6519_16cd_43dd, 0x8448_eb21_1c80_319c), id: id, parent: 0xb7ad_6b71_6920_3331,
            traceState: "vendor=1", kind: .client, name: "apns push", start: 1_763_712_800_000_000_000,
            end: 1_763_712_800_012_345_000,
            attributes: [.text("apns.topic", "com.example.app"), .number("http.response.status_code", 410)],
            failure: "Unregistered")
    }
}
