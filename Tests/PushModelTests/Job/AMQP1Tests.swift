import Testing
import Text

@testable import PushModel

/// What RabbitMQ 4.0.5 and 4.3.6 made of messages that came over AMQP 1.0, as they delivered it over AMQP 0-9-1.
@Suite("Jobs that came over AMQP 1.0", .timeLimit(.minutes(1)))
struct AMQP1Tests {
    private func defect(_ builder: MessageBuilder) -> JobDefect? {
        if case .failure(let defect) = builder.decode() { return defect }
        return nil
    }

    @Test("A data section is the body as it was sent, and a UUID or a number is an id")
    func data() throws {
        for id in ["urn:uuid:00000000-0000-0000-0000-000000000005", "77"] {
            let job = try MessageBuilder.raw { $0.messageID = id }.job()
            #expect(job.text(job.jobID) == id && !job.generatedID)
        }
    }

    @Test(
        "A value or a sequence as the body is refused with a sentence that says what to send",
        arguments: [
            [0, 0x53, 0x77, 0xA1, 10] + Array(#"{"aps":{}}"#.utf8),
            [0, 0x53, 0x77, 0xB0, 0, 0, 0, 10] + Array(#"{"aps":{}}"#.utf8),
            [0, 0x53, 0x76, 0xD0, 0, 0, 0, 7, 0, 0, 0, 1, 0xA1, 1, 0x61],
        ] as [[UInt8]], [MessageBuilder.raw(), MessageBuilder.enveloped("{}")])
    private func sections(_ body: [UInt8], _ form: MessageBuilder) {
        var builder = form
        builder.body = body
        let found = defect(builder)
        #expect(found?.reason == .badJSON && found?.detail.contains("data section") == true)
    }

    @Test("A binary id is refused, because the job would get another one; one that other software wrote as text is not")
    func binaryID() throws {
        func builder(_ value: MessageBuilder.Value) -> MessageBuilder {
            MessageBuilder.raw {
                $0.messageID = nil
                $0.headers.append(("x-message-id", value))
            }
        }
        let found = defect(builder(.bytes([0, 0xFF, 1])))
        #expect(found?.reason == .badJobID && found?.detail.contains("string") == true)
        #expect(try builder(.text("1")).job().generatedID)
    }

    @Test("A binary device token arrives as text and is refused with a sentence of its own; a wrong text keeps its own")
    func binaryToken() {
        let bytes = String(decoding: (0..<32).map { UInt8($0) }, as: UTF8.self)
        for (token, words) in [(bytes, "raw bytes"), ("<a1b2>", "hexadecimal digits and nothing else")] {
            let found = defect(MessageBuilder.raw { $0.set("apns-device-token", .text(token)) })
            #expect(found?.reason == .badDeviceToken && found?.detail.contains(words) == true)
        }
    }
}
