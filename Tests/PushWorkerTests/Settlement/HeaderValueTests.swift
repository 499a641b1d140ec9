import PushModel
import RabbitMQ
import Testing

@testable import PushWorker

@Suite("Kinds of header values", .timeLimit(.minutes(1)))
struct HeaderValueTests {
    @Test(
        "a value of a kind that no header of a job has is called what it is",
        arguments: [
            (.unsigned(.max), .number), (.double(1), .float), (.decimal(scale: 1, value: 15), .decimal),
            (.boolean(true), .boolean), (.table(0..<0), .table), (.array(0..<0), .array),
        ] as [(FieldSlice, HeaderValue.Kind)])
    func kinds(_ field: FieldSlice, _ kind: HeaderValue.Kind) {
        #expect(HeaderValue(field) == .other(kind))
    }
}
