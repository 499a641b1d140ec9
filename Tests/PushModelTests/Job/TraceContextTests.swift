import Testing

@testable import PushModel

@Suite("Trace contexts", .timeLimit(.minutes(1)))
struct TraceContextTests {
    private static func context(_ text: String) -> TraceContext? { TraceContext(text.utf8.span) }

    @Test("The ids and the wish to record are read from every version")
    func read() throws {
        let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let context = try #require(Self.context(text))
        #expect(context.high == 0x0af7_6519_16cd_43dd && context.low == 0x8448_eb21_1c80_319c)
        #expect(context.parent == 0xb7ad_6b71_6920_3331 && context.isSampled && context.flags == 1)
        let upper = try #require(Self.context("cc-0AF7651916CD43DD8448EB211C80319C-B7AD6B7169203331-FE"))
        #expect(upper.high == context.high && upper.parent == context.parent && !upper.isSampled && upper.flags == 0xfe)
    }

    @Test(
        "Text of another form is no context, and neither are ids of zeros",
        arguments: [
            "", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
            "00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01",
        ])
    func malformed(_ text: String) {
        #expect(Self.context(text) == nil)
    }

    @Test(
        "A trace state that is too long, has other bytes than printable ASCII, or has no context, is ignored",
        arguments: [
            ("vendor=1", true, true), (String(repeating: "a", count: 512), true, true),
            (String(repeating: "a", count: 513), true, false), ("", true, false), ("a=\u{7f}", true, false),
            ("a=ä", true, false), ("vendor=1", false, false),
        ])
    func state(_ text: String, hasContext: Bool, isKept: Bool) throws {
        let job = try MessageBuilder.raw {
            if hasContext {
                $0.headers += [("traceparent", .text("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))]
            }
            $0.headers += [("tracestate", .text(text)), ("tracestate", .text("second=1"))]
        }.job()
        #expect(job.text(job.tracestate) == (isKept ? text : nil))
    }
}
