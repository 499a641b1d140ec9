import APNSSimulator
import FoundationEssentials
import Glibc
import LocalStack
import Testing

@testable import martlet

/// A running program whose lines are read one by one and that can be told something.
final class TalkingProcess {
    struct Failure: Error {
        var message: String
    }

    let process: ChildProcess
    private let input: Int32
    private let output: Int32
    private var received: [UInt8] = []

    init(_ arguments: [String]) throws {
        var toChild: [Int32] = [-1, -1]
        var fromChild: [Int32] = [-1, -1]
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { throw Failure(message: "no pipes") }
        // Other programs started meanwhile must not keep these open.
        for descriptor in toChild + fromChild { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        defer {
            close(toChild[0])
            close(fromChild[1])
        }
        input = toChild[1]
        output = fromChild[0]
        process = try ChildProcess.start(
            Executable.path, arguments, environment: [:], input: .descriptor(toChild[0]),
            output: .descriptor(fromChild[1]), error: .inherit)
    }

    deinit {
        close(input)
        close(output)
    }

    func tell(_ line: String) throws {
        let bytes = Array("\(line)\n".utf8)
        guard bytes.withUnsafeBytes({ write(input, $0.baseAddress, $0.count) }) == bytes.count else {
            throw Failure(message: "the program does not listen")
        }
    }

    /// The next line for which something holds, past all others.
    func line(where holds: (String) -> Bool) throws -> String {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            while let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: received[..<end], as: UTF8.self)
                received.removeFirst(end + 1)
                if holds(line) { return line }
            }
            var request = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard poll(&request, 1, 20_000) == 1 else { throw Failure(message: "the program is silent") }
            let count = read(output, &buffer, buffer.count)
            guard count > 0 else { throw Failure(message: "the program ended") }
            received += buffer[..<count]
        }
    }

    func event(_ name: String) throws -> String { try line { $0.hasPrefix("{\"event\":\"\(name)\"") } }
}

@Suite("martlet device, as people run it", .timeLimit(.minutes(2)))
struct DeviceCommandTests {
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
        try TalkingProcess(
            [
                "device", "--state", directory.file("device"), "--simulator", "localhost:\(ports.devicePort)", "--ca",
                ports.authority, "--app", "com.example.app",
            ] + more)
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
        "Wrong command lines end as the manual says",
        arguments: [
            (["device"], CommandStatus.usage, "--app"),
            (["device", "--app", "a", "--simulator", "x"], .usage, "host:port"),
            (["device", "--app", "a", "--ca", "/nonexistent"], .missingInput, "/nonexistent"),
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
            Executable.path,
            [
                "device", "--state", directory.file("device"), "--simulator", "localhost:\(ports.devicePort)", "--ca",
                ports.authority, "--app", "com.example.app",
            ], environment: [:], input: .discard, output: .file("/dev/full"))
        #expect(device.wait(timeout: .seconds(60)) == .exited(74))
        process.process.terminate()
    }
}

@Suite("A device's screen", .timeLimit(.minutes(1)))
struct DevicePictureTests {
    private func notification(_ payload: String, collapse: String? = nil) -> DeviceEvent {
        var frame = DeviceFrame(.notification)
        frame.app = "com.example.app"
        frame.payload = payload
        frame.collapseID = collapse
        return .notification(frame)
    }

    @Test("It shows the connection, the newest token of each topic and the newest notifications first")
    func content() {
        var picture = DevicePicture(name: "Phone")
        picture.take(.online(device: "d"))
        for token in ["aa", "bb"] {
            picture.take(.token(app: "a", topic: "com.example.app", environment: "development", token: token))
        }
        for number in 1...(DevicePicture.shownLimit + 3) { picture.take(notification("n\(number)")) }
        let lines = picture.lines
        #expect(lines.first == "Phone  online")
        #expect(!lines.contains("  aa"))
        #expect(lines.contains("  bb"))
        let shown = lines.filter { $0.contains("com.example.app  n") }
        #expect(shown.count == DevicePicture.shownLimit)
        #expect(shown.first?.hasSuffix("n15") == true)
    }

    @Test("The same collapse identifier merges; control characters never reach the terminal")
    func safe() {
        var picture = DevicePicture(name: "Phone\u{1b}[2J")
        picture.take(notification("score 1", collapse: "score"))
        picture.take(notification("score 2", collapse: "score"))
        picture.take(notification("\u{1b}]0;title\u{7}\u{9b}31m\n"))
        picture.take(.trouble("one\ntwo"))
        let text = picture.lines.joined()
        #expect(!text.contains("score 1"))
        #expect(text.contains("score 2"))
        #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control })
        #expect(picture.lines.contains("! one"))
        #expect(picture.lines.contains("two"))
    }

    @Test("Elsewhere every event is one JSON object")
    func lines() {
        let events: [(DeviceEvent, String)] = [
            (.activated(device: "d"), #"{"event":"activated","device":"d"}"#),
            (.offline(reason: "r", retryIn: nil), #"{"event":"offline","reason":"r","retry_in_ms":null}"#),
            (.trouble("a\nb"), #"{"event":"trouble","message":"a\nb"}"#),
            (.done("x"), #"{"event":"done","message":"x"}"#),
        ]
        for (event, line) in events { #expect(DeviceLines.line(for: event).description == line) }
    }
}
