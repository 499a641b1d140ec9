import PushModel
import Testing

@testable import WorkerSettings

@Suite("Configuration of broadcast channels", .timeLimit(.minutes(1)))
struct ConfigurationBroadcastChannelTests {
    private func apns(_ yaml: String, _ environment: [String: String] = [:]) throws -> APNSConfiguration {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        return try fixture.load(yaml + minimalConfiguration, environment).get().apns
    }

    @Test("beside Apple's addresses, Apple's hosts and ports for broadcast channels are the default")
    func defaults() throws {
        let apns = try apns("")
        #expect(apns.broadcast.address(of: .production) == "https://api.push.apple.com:443")
        #expect(apns.broadcast.address(of: .development) == "https://api.sandbox.push.apple.com:443")
        #expect(apns.broadcastChannels.address(of: .production) == "https://api-manage-broadcast.push.apple.com:2196")
        #expect(
            apns.broadcastChannels.address(of: .development)
                == "https://api-manage-broadcast.sandbox.push.apple.com:2195")
    }

    @Test("an environment that is not Apple's keeps its broadcasts, and has no host for broadcast channels unless told")
    func simulator() throws {
        let apns = try apns("apns: { development: \"https://localhost:2197\" }\n")
        #expect(apns.broadcast.address(of: .development) == "https://localhost:2197")
        #expect(apns.broadcastChannels.address(of: .development) == nil)
        #expect(apns.broadcastChannels.address(of: .production) == "https://api-manage-broadcast.push.apple.com:2196")
    }

    @Test("file and environment name the hosts, the environment wins")
    func given() throws {
        let yaml = """
            apns:
              broadcast: { production: "https://api-broadcast.push.apple.com" }
              channels: { development: "https://localhost:2195", production: "https://localhost:2196/" }

            """
        let apns = try apns(yaml, ["MARTLET_APNS_CHANNELS_PRODUCTION": "https://[::1]:7"])
        #expect(apns.broadcast.production == "https://api-broadcast.push.apple.com:443")
        #expect(apns.broadcastChannels.development == "https://localhost:2195")
        #expect(apns.broadcastChannels.production == "https://[::1]:7")
    }

    @Test("the hosts to be checked are those that differ from the one for pushes; Apple's that nobody named are marked")
    func checked() throws {
        func hosts(_ yaml: String, _ environment: APNSEnvironment) throws -> [String] {
            try apns(yaml).broadcastChannelHosts(of: environment).map {
                "\($0.setting) \($0.address)\($0.isAssumed ? " *" : "")"
            }
        }
        #expect(
            try hosts("", .development)
                == ["apns.channels https://api-manage-broadcast.sandbox.push.apple.com:2195 *"])
        #expect(try hosts("apns: { development: \"https://localhost:1\" }\n", .development).isEmpty)
        let given = """
            apns:
              production: "https://localhost:1"
              broadcast: { production: "https://localhost:2" }
              channels: { production: "https://localhost:3" }

            """
        #expect(
            try hosts(given, .production)
                == ["apns.broadcast https://localhost:2", "apns.channels https://localhost:3"])
    }

    @Test("an invalid address is refused with its place")
    func refused() throws {
        let fixture = try ConfigurationFixture()
        defer { fixture.remove() }
        let yaml = "apns: { broadcast: { production: \"http://x\" } }\n" + minimalConfiguration
        let errors = try fixture.errors(yaml)
        #expect(errors == ["martlet.yaml:1:34: apns.broadcast.production: must begin with https://"])
    }
}
