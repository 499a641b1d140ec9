import BrokerClient
import Dispatch
import EventLoop
import PushModel
import RabbitMQ
import Testing

@testable import PushWorker
@testable import WorkerSettings

@Suite("The search for the brokers", .timeLimit(.minutes(1)))
struct BrokerSearchTests {
    /// A name service that answers once it is released.
    private final class HungService: Sendable {
        private let released = DispatchSemaphore(value: 0)

        func find(_ endpoint: AMQPEndpoint) throws(AMQPError) -> [BrokerTarget] {
            released.wait()
            throw AMQPError(.unresolved, "too late")
        }

        func release() { released.signal() }
    }

    private static func configuration(_ hosts: [String]) -> BrokerConfiguration {
        BrokerConfiguration(
            uris: hosts.map { SecretText("amqp://guest:guest@\($0)/") }, allowsPlaintext: true,
            heartbeat: .seconds(30), tls: BrokerTLSConfiguration())
    }

    private static func find(_ endpoint: AMQPEndpoint) throws(AMQPError) -> [BrokerTarget] {
        guard endpoint.host.hasPrefix("good") else { throw AMQPError(.unresolved, "no such host") }
        return try BrokerTarget.find(endpoint) { _, port in [SocketAddress.loopback(port: port)] }
    }

    @Test("a search that hangs is given up after its patience, which whoever waits shares with the lanes")
    func hangs() {
        let service = HungService()
        defer { service.release() }
        let error = #expect(throws: AMQPError.self) {
            try BrokerSearch.targets(
                of: Self.configuration(["good"]), step: .zero, patience: .zero, find: service.find, while: { true })
        }
        #expect(error?.message == BrokerSearch.timeout.message && error?.code == .unresolved)
    }

    @Test("whoever waits is asked again and again whether it still wants to, and does not wait once it does not")
    func leaves() {
        let service = HungService()
        defer { service.release() }
        var questions = 0
        let error = #expect(throws: AMQPError.self) {
            try BrokerSearch.targets(of: Self.configuration(["good"]), step: .zero, find: service.find) {
                questions += 1
                return questions < 4
            }
        }
        #expect(questions == 4 && error?.message == "the brokers are not looked for any more")
    }

    @Test("a broker whose name is unknown does not keep the others from being found")
    func others() throws {
        let hosts = ["good-1", "bad", "good-2"]
        let found = try BrokerSearch.targets(
            of: Self.configuration(hosts), step: .seconds(10), find: Self.find, while: { true })
        #expect(Set(found.map(\.endpoint.host)) == ["good-1", "good-2"] && found.count == 2)
        let error = #expect(throws: AMQPError.self) {
            try BrokerSearch.targets(
                of: Self.configuration(["bad"]), step: .seconds(10), find: Self.find, while: { true })
        }
        #expect(error?.message.contains("no such host") == true)
    }
}
