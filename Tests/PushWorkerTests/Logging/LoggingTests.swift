import Foundation
import Logging
import Testing
import Text
import WorkerSettings

@testable import PushWorker

@Suite("Logging", .timeLimit(.minutes(1)))
struct LoggingTests {
    private func line(
        _ format: LogConfiguration.Format, _ message: String, _ metadata: Logger.Metadata = [:], terminal: Bool = false,
        environment: [String: String] = [:], level: Logger.Level = .info
    ) -> String {
        let formatter = LogFormatter(format: format, isTerminal: terminal, environment: environment)
        return String(
            decoding: formatter.line(
                level: level, message: message, metadata: metadata, label: "martlet.test", time: 1_763_712_764_120),
            as: UTF8.self)
    }

    @Test("a JSON line has time, level, logger and message, then the metadata by key")
    func json() {
        #expect(
            line(
                .json, "route parked",
                .with([.route: "shop", .count: .stringConvertible(3), .reason: "a\"b\\c\nd\u{1}é", .lane: ["0", "1"]]))
                == #"{"time":"2025-11-21T08:12:44.120Z","level":"info","logger":"martlet.test","message":"route parked","#
                + #""count":3,"lane":["0","1"],"reason":"a\"b\\c\nd\u0001é","route":"shop"}"# + "\n")
    }

    @Test("numbers and truth values stay what they are, nested values too, and reserved keys do not collide")
    func kinds() throws {
        let text = line(
            .json, "m",
            [
                "a": .stringConvertible(1.5), "b": .stringConvertible(true),
                "c": .dictionary(["x": .stringConvertible(-1)]),
                "d": .stringConvertible(Double.nan), "time": "mine",
            ])
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(object["a"] as? Double == 1.5)
        #expect(object["b"] as? Bool == true)
        #expect((object["c"] as? [String: Int])?["x"] == -1)
        #expect(object["d"] as? String == "nan")
        #expect(object["_time"] as? String == "mine")
    }

    @Test("a text line is for people, and control characters cannot act on their terminal")
    func text() {
        #expect(
            line(.text, "route parked", .with([.route: "shop", .reason: "two words", .detail: "\u{1b}[2J\n"]))
                == "08:12:44.120 INFO     route parked detail=\u{fffd}[2J\u{fffd} reason=\"two words\" route=shop\n")
    }

    @Test(
        "the look follows format, terminal and environment",
        arguments: [
            (.automatic, false, [:], .json), (.automatic, true, [:], .text(colour: true)),
            (.json, true, [:], .json), (.text, false, [:], .text(colour: false)),
            (.automatic, true, ["NO_COLOR": "1"], .text(colour: false)),
            (.automatic, true, ["NO_COLOR": ""], .text(colour: true)),
            (.automatic, true, ["TERM": "dumb"], .text(colour: false)),
            (.text, false, ["FORCE_COLOR": "1"], .text(colour: true)),
            (.text, false, ["FORCE_COLOR": "1", "NO_COLOR": "1"], .text(colour: false)),
            (.automatic, false, ["FORCE_COLOR": "1"], .json),
        ] as [(LogConfiguration.Format, Bool, [String: String], LogFormatter.Style)])
    func style(
        _ format: LogConfiguration.Format, _ terminal: Bool, _ environment: [String: String],
        _ expected: LogFormatter.Style
    ) {
        #expect(LogFormatter(format: format, isTerminal: terminal, environment: environment).style == expected)
    }

    @Test(
        "times are UTC with milliseconds",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (4_102_444_800_000, "2100-01-01T00:00:00.000Z"), (4_107_542_400_001, "2100-03-01T00:00:00.001Z"),
        ])
    func times(_ milliseconds: Int64, _ expected: String) {
        #expect(LogTime(milliseconds: milliseconds).full == expected)
    }

    @Test(
        "what looks like a secret is struck out",
        arguments: [
            ("amqp://user:pw@host:5672/v", "amqp://***@host:5672/v"),
            ("see http://u:p@ss@h/x and amqps://h", "see http://***@h/x and amqps://h"),
            ("token " + String(repeating: "aB3", count: 22), "token ***"),
            ("x=" + String(repeating: "0", count: 64) + "!", "x=***!"),
            ("authorization: bearer eyJhbGciOi.J9.c2ln, next", "authorization: bearer ***, next"),
            ("-----BEGIN PRIVATE KEY-----\nMIG", "***"),
            ("0193c0de-7a5b-7c3d-9e10-2f6b1a7c8d90", "0193c0de-7a5b-7c3d-9e10-2f6b1a7c8d90"),
            ("0193c0de7a5b7c3d9e102f6b1a7c8d90", "0193c0de7a5b7c3d9e102f6b1a7c8d90"),
            ("https://api.push.apple.com:443", "https://api.push.apple.com:443"),
            ("write a@b.c", "write a@b.c"), ("", ""),
            ("x://@h", "x://@h"), ("BadCertificate://@", "BadCertificate://@"),
            ("a://@b://u:pw@c", "a://@b://***@c"),
        ])
    func scrub(_ text: String, _ expected: String) {
        #expect(Redaction.scrub(text) == expected)
        #expect(!line(.json, "m", ["k": "\(text)"]).contains("pw"))
    }

    @Test("whatever a text is made of, striking out comes to its end and leaves no more than there was")
    func scrubEnds() {
        let parts = ["://", "@", "earer ", "-----BEGIN ", "a", "/", " ", "\"", "é", String(repeating: "0", count: 48)]
        var random = SplitMix64(seed: 7)
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...8, using: &random)).map { _ in parts.randomElement(using: &random) ?? ""
            }
            .joined()
            let scrubbed = Redaction.scrub(text)
            #expect(scrubbed.utf8.count <= text.utf8.count + 3 * 8, "\(text)")
        }
    }

    @Test("a device token has a short name that is always the same")
    func tokenName() {
        let token = Array("a1b2c3d4e5f60718293a4b5c6d7e8f90".utf8)
        let name = Redaction.name(ofToken: token.span)
        #expect(name == Redaction.name(ofToken: token.span))
        #expect(name.count == 14)
        #expect(name != Redaction.name(ofToken: Array("a1".utf8).span))
    }

    @Test("the level changes for every logger at once, but for those with a level of their own")
    func level() throws {
        let sink = try LogSink(descriptor: 1, level: .error) { _ in [] }
        defer { sink.close() }
        let formatter = LogFormatter(format: .json, isTerminal: false, environment: [:])
        let logger = Logger(label: "one") { WorkerLogHandler(label: $0, formatter: formatter, sink: sink) }
        var quiet = logger
        quiet.logLevel = .warning
        #expect(logger.logLevel == .error && quiet.logLevel == .warning)
        for level in Logger.Level.allCases {
            sink.threshold.set(level)
            #expect(logger.logLevel == level && quiet.logLevel == .warning)
        }
    }

    @Test("lines of a logger arrive in order with its metadata")
    func handler() throws {
        let pipe = Pipe()
        let sink = try LogSink(descriptor: pipe.fileHandleForWriting.fileDescriptor, level: .debug) {
            Array("dropped \($0)\n".utf8)
        }
        let formatter = LogFormatter(format: .json, isTerminal: false, environment: [:])
        var logger = Logger(label: "martlet.lane") { label in
            WorkerLogHandler(label: label, formatter: formatter, sink: sink, clock: { 0 })
        }
        logger[.lane] = "1"
        logger.info("one", metadata: .with([.route: "shop"]))
        logger.trace("too fine")
        logger.error("two", metadata: .with([.lane: "2"]))
        #expect(sink.flush())
        sink.close()
        try pipe.fileHandleForWriting.close()
        let text = try #require(String(data: pipe.fileHandleForReading.readToEnd() ?? Data(), encoding: .utf8))
        #expect(
            text == #"{"time":"1970-01-01T00:00:00.000Z","level":"info","logger":"martlet.lane","message":"one","#
                + #""lane":"1","route":"shop"}"# + "\n"
                + #"{"time":"1970-01-01T00:00:00.000Z","level":"error","logger":"martlet.lane","message":"two","#
                + #""lane":"2"}"# + "\n")
    }

    @Test("a reader that has stopped reading costs lines, never time, and is told how many")
    func stalledReader() throws {
        let pipe = Pipe()
        let sink = try LogSink(descriptor: pipe.fileHandleForWriting.fileDescriptor, limit: 10_000) {
            Array("dropped \($0)\n".utf8)
        }
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: 99) + [UInt8(ascii: "\n")]
        // Far more than pipe and queue hold together: were one of these calls to wait, the test would never end.
        for _ in 0..<5000 { sink.write(line) }
        let dropped = sink.droppedLines
        #expect(dropped > 3000)
        var received = Data()
        while received.range(of: Data("\ndropped ".utf8)) == nil {
            received += pipe.fileHandleForReading.availableData
            sink.write(line)
        }
        sink.close()
        let text = String(decoding: received, as: UTF8.self)
        #expect(text.contains("\ndropped "))
    }
}
