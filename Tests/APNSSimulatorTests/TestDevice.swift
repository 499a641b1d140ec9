import EventLoop
import Foundation

@testable import APNSSimulator

/// A device beside a test: its events are waited for one by one.
final class TestDevice {
    struct Failure: Error {
        var message: String
    }

    let directory: String
    private let mailbox: Mailbox<DeviceCommand>
    private let thread: LoopThread
    private var events: AsyncStream<DeviceEvent>.Iterator

    init(
        _ simulator: RunningSimulator, apps: [DeviceClientConfiguration.App] = [.init("com.example.app")],
        directory: String? = nil, change: (inout DeviceClientConfiguration) -> Void = { _ in }
    ) throws {
        // Inside the simulator's own directory, which is removed with it.
        let home = simulator.authorityFile.dropLast("/ca.pem".count)
        self.directory = directory ?? "\(home)/test-device-\(UUID().uuidString)"
        var configuration = DeviceClientConfiguration(
            stateDirectory: self.directory, host: "localhost", port: simulator.devicePort ?? 0,
            authorityPEM: simulator.authorityPEM)
        configuration.apps = apps
        change(&configuration)
        let (stream, continuation) = AsyncStream<DeviceEvent>.makeStream()
        events = stream.makeAsyncIterator()
        let client = Parcel(try DeviceClient(configuration) { continuation.yield($0) })
        mailbox = client.value.mailbox
        thread = try LoopThread.start(name: "test-device") {
            do { try client.value.run() } catch { continuation.yield(.trouble("\(error)")) }
            continuation.finish()
        }
    }

    /// Carries the client to its thread, which is then the only one to use it.
    private struct Parcel: @unchecked Sendable {
        // Protected by the hand-over: nobody else keeps the client.
        let value: DeviceClient
        init(_ value: DeviceClient) { self.value = value }
    }

    func tell(_ command: DeviceCommand) { mailbox.post(command) }

    /// Waits for an event, past all others.
    func next<Value>(_ pick: (DeviceEvent) -> Value?) async throws -> Value {
        while let event = await events.next() {
            if let value = pick(event) { return value }
        }
        throw Failure(message: "the device ended")
    }

    func token(_ topic: String = "com.example.app") async throws -> String {
        try await next { if case .token(_, topic, _, let token) = $0 { token } else { nil } }
    }

    func notification() async throws -> DeviceFrame {
        try await next { if case .notification(let frame) = $0 { frame } else { nil } }
    }

    func done(_ words: String) async throws {
        try await next { if case .done(words) = $0 { () } else { nil } }
    }

    func online() async throws -> String {
        try await next { if case .online(let device) = $0 { device } else { nil } }
    }

    func offline() async throws { try await next { if case .offline = $0 { () } else { nil } } }

    /// Ends the device and waits for its thread.
    func quit() async {
        mailbox.post(.quit)
        while await events.next() != nil {}
        thread.join()
    }
}
