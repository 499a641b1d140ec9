import APNSSimulator
import FoundationEssentials
import Glibc
import LocalStack
import Testing

@testable import MartletCommands

@Suite("martlet device, as people run it", .timeLimit(.minutes(2)))
struct DeviceCommandLineTests {
    private struct Ports: Decodable {
        var port: Int
        var devicePort: Int
        var authority: String

        private enum CodingKeys: String, CodingKey {
            case port
            case devicePort = "device_port"
            case authority = "ca_file"
        }
    }

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func simulator(port: Int = 0, devicePort: Int = 0) throws -> (process: TalkingProcess, ports: Ports) {
        let process = try TalkingProcess([
            "simulator", "--port", "\(port)", "--admin-port", "0", "--device-port", "\(devicePort)", "--allow-any-key",
            "--state-directory", directory.file("simulator"), "--output", "json",
        ])
        let line = try process.line { $0.hasPrefix("{") }
        return (process, try JSONDecoder().decode(Ports.self, from: Data(line.utf8)))
    }

    private func device(_ ports: Ports, _ more: [String] = []) throws -> TalkingProcess {
        try TalkingProcess(arguments(ports) + more)
    }

    private func arguments(_ ports: Ports) -> [String] {
        [
            "device", "--state", directory.file("device"), "--simulator", "localhost:\(ports.devicePort)", "--ca",
            ports.authority, "--app", "com.example.app",
        ]
    }

    private func push(_ ports: Ports, _ token: String, _ payload: String) throws -> String {
        func encoded(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
                "=", with: "")
        }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let claims = "{\"iss\":\"DEF7654321\",\"iat\":\(now.tv_sec)}"
        let signature = encoded(String(repeating: "s", count: 64))
        let bearer = "\(encoded(#"{"alg":"ES256","kid":"ABC1234567"}"#)).\(encoded(claims)).\(signature)"
        return try ChildProcess.run(
            "/usr/bin/curl",
            [
                "--http2", "--silent", "--cacert", ports.authority, "--max-time", "20", "--write-out", "%{http_code}",
                "--header", "authorization: bearer \(bearer)", "--header", "apns-topic: com.example.app", "--header",
                "apns-push-type: alert", "--data", payload, "https://localhost:\(ports.port)/3/device/\(token)",
            ]
        ).text
    }

    private func token(_ line: String) -> String {
        line.split(separator: "\"token\":\"").last?.split(separator: "\"").first.map(String.init) ?? ""
    }

    @Test("A device activates, gets a token and prints what arrives; it obeys, and finds a restarted simulator again")
    func life() throws {
        let (first, ports) = try simulator()
        let phone = try device(ports)
        _ = try phone.event("activated")
        _ = try phone.event("online")
        let address = token(try phone.event("token"))
        #expect(try push(ports, address, #"{"n":1}"#) == "200")
        #expect(try phone.event("notification").contains(#""payload":"{\"n\":1}""#))
        let refused = try Executable.run([
            "simulator", "--port", "0", "--admin-port", "0", "--allow-any-key", "--state-directory",
            directory.file("simulator"),
        ])
        #expect(refused.status == 66 && refused.errorText.contains("in use by another simulator"))
        try phone.tell("offline")
        _ = try phone.event("offline")
        // Killed at once after its 200: the push is kept, and no stale lock is in the way.
        #expect(try push(ports, address, #"{"n":2}"#) == "200")
        first.process.signal(SIGKILL)
        #expect(first.process.wait(timeout: .seconds(10)) == .signalled(SIGKILL))
        let (second, _) = try simulator(port: ports.port, devicePort: ports.devicePort)
        try phone.tell("online")
        #expect(try phone.event("notification").contains(#""payload":"{\"n\":2}""#))
        #expect(token(try phone.event("token")) == address)
        second.process.signal(SIGTERM)
        #expect(second.process.wait(timeout: .seconds(10)) == .exited(0))
        #expect(try phone.event("offline").contains("retry_in_ms"))
        let (third, last) = try simulator(port: ports.port, devicePort: ports.devicePort)
        _ = try phone.event("online")
        try phone.tell("fly")
        #expect(try phone.event("trouble").contains("not understood"))
        try phone.tell("uninstall")
        _ = try phone.event("done")
        #expect(try push(last, address, "{}").hasPrefix(#"{"reason":"Unregistered","timestamp":"#))
        try phone.tell("reinstall")
        let fresh = token(try phone.event("token"))
        #expect(fresh != address)
        #expect(try push(last, fresh, "{}") == "200")
        try phone.tell("quit")
        #expect(phone.process.wait(timeout: .seconds(10)) == .exited(0))
        third.process.signal(SIGTERM)
        #expect(third.process.wait(timeout: .seconds(10)) == .exited(0))
    }

    @Test("A device hands its token to a provider, and tells how that went", arguments: [204, 500])
    func provider(_ status: Int) throws {
        let (apns, ports) = try simulator()
        let server = try SmallHTTPServer(status: status)
        let url = "http://user:secret@127.0.0.1:\(server.port)/devices?key=secret"
        let phone = try device(ports, ["--provider", url])
        let address = token(try phone.event("token"))
        let (head, body) = try server.next()
        #expect(head.hasPrefix("POST /devices?key=secret HTTP/1.1\r\n"))
        #expect(head.lowercased().contains("content-type: application/json"))
        let told = try JSONDecoder().decode([String: String].self, from: Data(body.utf8))
        #expect(told == ["token": address, "topic": "com.example.app", "environment": "development"])
        let outcome = try phone.event(status == 204 ? "done" : "trouble")
        #expect(outcome.contains("http://127.0.0.1:\(server.port)/devices ") && !outcome.contains("secret"))
        #expect(outcome.contains("answered 500") == (status == 500))
        phone.process.signal(SIGTERM)
        #expect(phone.process.wait(timeout: .seconds(10)) == .exited(0))
        apns.process.signal(SIGTERM)
        #expect(apns.process.wait(timeout: .seconds(10)) == .exited(0))
    }

    @Test("A device is the same device at its next start, and a signal ends it in order")
    func nextStart() throws {
        let (apns, ports) = try simulator()
        let first = try device(ports)
        let name = try first.event("activated").replacing("activated", with: "online")
        let address = token(try first.event("token"))
        first.process.signal(SIGTERM)
        #expect(first.process.wait(timeout: .seconds(10)) == .exited(0))
        let second = try device(ports, ["--low-power"])
        #expect(try second.event("online") == name)
        #expect(token(try second.event("token")) == address)
        second.process.signal(SIGINT)
        #expect(second.process.wait(timeout: .seconds(10)) == .exited(0))
        apns.process.signal(SIGTERM)
        #expect(apns.process.wait(timeout: .seconds(10)) == .exited(0))
    }

    @Test(
        "How a device is has a colour on a terminal, but not where NO_COLOR holds something", arguments: [nil, "", "1"])
    func colours(_ noColour: String?) throws {
        let (apns, ports) = try simulator()
        let phone = try TalkingProcess(
            Executable.terminal(arguments(ports)), of: "/usr/bin/script",
            environment: noColour.map { ["NO_COLOR": $0] } ?? [:])
        let line = try phone.line { $0.contains("  online") || $0.contains("\u{1b}[32monline") }
        #expect(line.contains("\u{1b}[32monline\u{1b}[0m") == (noColour != "1"), "\(line)")
        try phone.tell("quit")
        #expect(phone.process.wait(timeout: .seconds(10)) == .exited(0))
        apns.process.terminate()
    }

    @Test(
        "Wrong command lines end as the manual says",
        arguments: [
            (["device"], CommandStatus.usage, "--app"),
            (["device", "--app", "a", "--simulator", "x"], .usage, "host:port"),
            (["device", "--app", "a", "--ca", "/nonexistent"], .missingInput, "/nonexistent"),
            (["device", "--app", "a", "--provider", "ftp://x"], .usage, "--provider"),
            (["simulator", "--key", "ABC:DEF7654321:x.p8"], .configuration, "10 letters and digits"),
            (["simulator", "--device-port", "70000"], .usage, "port"),
            (["simulator", "--device-tokens", "none"], .usage, "--device-tokens"),
            (["simulator", "--device-token-lifetime", "0"], .usage, "--device-token-lifetime"),
        ] as [([String], CommandStatus, String)])
    func wrong(_ arguments: [String], _ status: CommandStatus, _ says: String) throws {
        let outcome = try Executable.run(arguments)
        #expect(outcome.status == status.rawValue)
        #expect(outcome.errorText.contains(says))
    }

    @Test("A device whose events nobody can read ends")
    func nowhere() throws {
        let (process, ports) = try simulator()
        let device = try ChildProcess.start(
            Executable.path, arguments(ports), environment: [:], input: .discard, output: .file("/dev/full"))
        #expect(device.wait(timeout: .seconds(60)) == .exited(74))
        process.process.terminate()
    }
}
