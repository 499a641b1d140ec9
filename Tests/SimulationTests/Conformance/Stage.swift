import EventLoop
import Glibc
import LocalStack
import TestSupport

@testable import Simulation

/// A broker for scripts: the model, or a real RabbitMQ.
protocol Stage: AnyObject {
    var version: ModelBroker.Version { get }
    func connect(user: String, capabilities: [String]) throws -> ScriptClient
    /// Makes a user whose rights are three regular expressions, and whose password is the name.
    func addUser(_ name: String, configure: String, write: String, read: String) throws
    /// Allows a user the keys of one topic exchange alone.
    func allowTopic(_ user: String, _ exchange: String, write: String) throws
}

extension Stage {
    func connect(user: String = "guest") throws -> ScriptClient {
        try connect(user: user, capabilities: ScriptClient.all)
    }
}

/// The model, whose time passes as soon as nothing else happens.
final class ModelStage: Stage {
    let broker: ModelBroker
    var version: ModelBroker.Version { broker.version }
    fileprivate var now = MonotonicTime(nanoseconds: 1_000_000_000_000)

    init(_ version: ModelBroker.Version) { broker = ModelBroker(version, now: now, wall: 1_800_000_000_000) }

    func connect(user: String, capabilities: [String]) throws -> ScriptClient {
        try ScriptClient(Pipe(self), user: user, capabilities: capabilities)
    }

    func addUser(_ name: String, configure: String, write: String, read: String) throws {
        let rights = try [configure, write, read].map { pattern in
            let regex = try Regex(pattern)
            return { (name: String) in name.contains(regex) }
        }
        broker.users[name] = .init(configure: rights[0], write: rights[1], read: rights[2])
    }

    func allowTopic(_ user: String, _ exchange: String, write: String) throws {
        let regex = try Regex(write)
        broker.users[user]?.mayWriteTopic = { $0 != exchange || $1.contains(regex) }
    }

    /// Lets time go on to what is due next, until a time at the most.
    fileprivate func passTime(until end: MonotonicTime) -> Bool {
        guard now < end else { return false }
        now = min(end, max(now, broker.nextDue ?? end))
        broker.advance(to: now, wall: 1_800_000_000_000 + Int64(now.nanoseconds / 1_000_000 - 1_000_000))
        return true
    }

    private final class Pipe: ScriptTransport {
        private let stage: ModelStage
        private let connection: ModelConnection

        init(_ stage: ModelStage) {
            self.stage = stage
            connection = stage.broker.connect()
        }

        func send(_ bytes: [UInt8]) { connection.receive(bytes) }
        func receive(within patience: Duration) -> [UInt8] {
            let end = stage.now + patience
            while true {
                let bytes = connection.takeOutput()
                if !bytes.isEmpty || !stage.passTime(until: end) { return bytes }
            }
        }
        func cut() { connection.cut() }
    }
}

/// A private RabbitMQ.
final class BrokerStage: Stage {
    private let broker: PrivateBroker
    let version: ModelBroker.Version

    init(_ broker: PrivateBroker) throws {
        self.broker = broker
        let name = try ScriptClient(Connection(broker.port)).version
        version = name.hasPrefix("3.") ? .release310 : name.hasPrefix("4.0") ? .release40 : .release43
    }

    func connect(user: String, capabilities: [String]) throws -> ScriptClient {
        try ScriptClient(Connection(broker.port), user: user, capabilities: capabilities)
    }

    func addUser(_ name: String, configure: String, write: String, read: String) throws {
        try broker.control(["add_user", name, name])
        try broker.control(["set_permissions", name, configure, write, read])
    }

    func allowTopic(_ user: String, _ exchange: String, write: String) throws {
        try broker.control(["set_topic_permissions", user, exchange, write, ".*"])
    }

    private final class Connection: ScriptTransport {
        private let descriptor: Int32

        init(_ port: Int) throws {
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(port).bigEndian
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            let status = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard status == 0 else { throw ScriptFailure("the broker cannot be reached: \(errno)") }
        }

        deinit { close(descriptor) }

        func send(_ bytes: [UInt8]) throws {
            guard Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
                throw ScriptFailure("the connection is gone")
            }
        }

        func receive(within patience: Duration) throws -> [UInt8] {
            var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&wanted, 1, Int32(patience / .milliseconds(1))) == 1 else { return [] }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            return Array(buffer.prefix(max(0, count)))
        }

        func cut() { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
}
