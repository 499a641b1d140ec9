import LocalStack
import PushModel
import Testing

/// RabbitMQ speaks AMQP 1.0 from 4.0 on. Earlier versions need a plugin, and translate in other ways.
@Suite("Jobs over AMQP 1.0", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct AMQP1Tests {
    @Test("Data sections are pushed; everything that arrives in another form is refused with what to send instead")
    func kinds() async throws {
        let stack = try await BrokerStack.start("amqp1")
        let client = try JobClient(stack)
        defer { client.close() }
        let worker = try stack.startWorker()
        let token = String(decoding: Tokens.good, as: UTF8.self)
        let question = #"{"key":"development.normal.com.example.app","token":"\#(token)"}"#
        let kinds = try stack.python("amqp1.py", input: question).split(separator: "\n").map(String.init)
        let isSpoken = try stack.broker.control(["version"]).split(separator: ".").first.flatMap { Int($0) } ?? 0 >= 4
        #expect(kinds.count == (isSpoken ? 6 : 0))
        for kind in kinds {
            let result = try client.result(kind).result
            switch kind {
            case "data", "halves": #expect(result.outcome == "accepted", "\(kind)")
            case "value", "sequence":
                #expect(result.reason == "BadJSON" && result.detail?.contains("data section") == true)
            case "binary token":
                #expect(result.reason == "BadDeviceToken" && result.detail?.contains("raw bytes") == true)
            default: #expect(result.reason == "BadJobId" && result.detail?.contains("string") == true)
            }
        }
        try await worker.stop()
        #expect(try stack.leftovers() == [:])
    }
}
