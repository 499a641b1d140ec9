import APNSSimulator
import LocalStack
import PushWorker
import TLS
import TestSupport
import Testing
import WorkerSettings

/// Two routes that push with the same key.
@Suite("A credential that routes share", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct SharedCredentialTests {
    @Test(
        "Refused on one route, it loses its connections on the other too; its replacement puts the first to work again")
    func shared() async throws {
        let stack = try await BrokerStack.start(
            "shared",
            apps: [
                BrokerStack.App(route: "one", topic: "com.example.one", credential: "stranger"),
                BrokerStack.App(route: "two", topic: "com.example.two", credential: "stranger"),
            ])
        let client = try JobClient(stack)
        defer { client.close() }
        let worker = try stack.startWorker()
        func state(_ name: String) -> WorkerReadiness.Route? {
            worker.worker.readiness().routes.first { $0.name == name }
        }
        // APNs knows the key at first, so that both routes have a connection.
        stack.simulator.control.add(try strangersKey(of: stack))
        for topic in ["com.example.one", "com.example.two"] {
            try client.publishGoodJob(as: "before \(topic)", topic: topic)
            #expect(try client.result("before \(topic)").result.outcome == "accepted")
        }
        #expect(stack.simulator.control.setKey("STRANGER01", isRevoked: true))
        let before = stack.simulator.counters.connectionsAccepted
        try client.publishGoodJob(as: "refused", topic: "com.example.one")
        while state("one")?.state != "parked" { try await yieldUnlessOver() }
        #expect(state("one")?.reason?.contains("InvalidProviderToken") == true)
        while stack.simulator.counters.connectionsAccepted == before { try await yieldUnlessOver() }
        // A parked route opens nothing: it was the other one.
        #expect(state("one")?.state == "parked" && state("one")?.connections == 0)
        #expect(state("two")?.state == "ready")

        guard var good = stack.configuration.credentials.first(where: { $0.name == "local" }),
            case .token(var token) = good
        else { throw RingFailure("no credential is called local") }
        token.name = "stranger"
        good = .token(token)
        var configuration = stack.configuration
        configuration.credentials.removeAll { $0.name == "stranger" }
        configuration.credentials.append(good)
        worker.worker.reload(configuration)
        #expect(try client.result("refused").result.outcome == "accepted")
        for topic in ["com.example.one", "com.example.two"] {
            try client.publishGoodJob(as: topic, topic: topic)
            #expect(try client.result(topic).result.outcome == "accepted")
        }
        while state("one")?.credentialVersion != 2 || state("two")?.credentialVersion != 2 {
            try await yieldUnlessOver()
        }
        try await worker.stop()
    }

    /// What APNs would know of the key that routes of the stack have and it does not.
    private func strangersKey(of stack: BrokerStack) throws -> ProviderKey {
        for case .token(let token) in stack.configuration.credentials where token.name == "stranger" {
            let key = try ES256PrivateKey(file: token.keyFile)
            return ProviderKey(keyID: token.keyID, teamID: token.teamID, publicKey: key.publicKey)
        }
        throw RingFailure("no credential is called stranger")
    }
}
