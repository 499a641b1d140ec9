import LocalStack
import TestSupport
import Testing

@testable import Simulation

/// The same scripts against the model and against a real RabbitMQ: what the model says is what brokers do.
@Suite("The model broker does what RabbitMQ does", .timeLimit(.minutes(5)))
struct ConformanceTests {
    @Test("The model follows the script", arguments: Script.all, ModelBroker.Version.allCases)
    func model(_ script: Script, _ version: ModelBroker.Version) throws {
        #expect(try script.run(ModelStage(version)) == script.expected(version))
    }

    @Test("RabbitMQ follows the script")
    func broker() throws {
        let stage = try BrokerStage(PrivateBroker.start())
        for script in Script.all {
            do {
                let events = try script.run(stage)
                #expect(events == script.expected(stage.version), "\(script.testDescription)")
            } catch { Issue.record("\(script.testDescription): \(error)") }
        }
    }
}
