import Foundation
import LocalStack

/// A program that answers like no broker does: each connection gets the next of its answers.
final class FaultImpostor: Sendable {
    /// Where it listens.
    let port: Int
    private let process: ChildProcess
    private let log: String

    /// Starts it and waits until it listens.
    ///
    /// - Parameters:
    ///   - directory: Where its script and its log go.
    ///   - seed: What its random bytes are drawn from.
    init(in directory: TemporaryDirectory, seed: UInt64) throws {
        port = try FreePort.next()
        log = directory.file("impostor.log")
        let script = try directory.write(Self.script, to: "impostor.py")
        process = try ChildProcess.start(
            "/usr/bin/python3", ["-u", script, "\(port)", "\(seed)"], output: .file(log), error: .file(log))
    }

    deinit { process.terminate(grace: .zero) }

    /// What it said about each connection so far.
    var connections: [String] {
        let bytes = FileManager.default.contents(atPath: log) ?? Data()
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// How many different answers it has.
    static let answers = 22

    /// Frames: AMQP 0-9-1, 4.2.3; methods: connection.start 10.10, tune 10.30, open-ok 10.41, channel.open-ok 20.11.
    private static let script = #"""
        import random, socket, struct, sys, threading

        random.seed(int(sys.argv[2]))

        def frame(kind, channel, payload, end=b"\xce", size=None):
            return struct.pack(">BHI", kind, channel, len(payload) if size is None else size) + payload + end

        def method(channel, group, number, arguments=b""):
            return frame(1, channel, struct.pack(">HH", group, number) + arguments)

        def long(text):
            return struct.pack(">I", len(text)) + text

        def start(table=b"", mechanisms=b"PLAIN"):
            return method(0, 10, 10, b"\x00\x09" + long(table) + long(mechanisms) + long(b"en_US"))

        def tune(channels, frames, heartbeat=60):
            return method(0, 10, 30, struct.pack(">HIH", channels, frames, heartbeat))

        def nested(levels):
            table = b""
            for _ in range(levels):
                table = b"\x01nF" + long(table)
            return table

        DELIVER = b"\x02q0" + struct.pack(">Q", 1) + b"\x00" + b"\x01e" + b"\x01k"
        LOGIN = [start(), tune(2047, 131072), method(0, 10, 41, b"\x00")]
        OPENED = LOGIN + [b"".join(method(n, 20, 11, long(b"")) for n in (1, 2))]
        ANSWERS = [
            ("another protocol", [b"HTTP/1.1 400 Bad Request\r\n\r\n"]),
            ("another version", [b"AMQP\x03\x01\x00\x00"]),
            ("random bytes", [bytes(random.getrandbits(8) for _ in range(65536))]),
            ("a method without a number", [frame(1, 0, b"")]),
            ("a frame of 4 GB", [frame(1, 0, b"", size=0xFFFFFFFF)]),
            ("a frame with another end", [frame(1, 0, struct.pack(">HH", 10, 10), end=b"\x00")]),
            ("a start cut off", [method(0, 10, 10, b"\x00\x09\x00")]),
            ("a table longer than its frame", [method(0, 10, 10, b"\x00\x09\xff\xff\xff\xff")]),
            ("15,000 nested tables", [start(nested(15000))]),
            ("no login we know", [start(mechanisms=b"CHERRY")]),
            ("heartbeats only", [frame(8, 0, b"") * 100000]),
            ("an unknown method", [start(), method(0, 999, 999, b"\x00" * 100)]),
            ("frames of one byte", [start(), tune(2047, 1), method(0, 10, 41, b"\x00")]),
            ("no limits", [start(), tune(0, 0, 0), method(0, 10, 41, b"\x00")]),
            ("one channel", [start(), tune(1, 4096), method(0, 10, 41, b"\x00")]),
            ("random bytes after login", LOGIN + [bytes(random.getrandbits(8) for _ in range(65536))]),
            ("channel 65535", LOGIN + [method(65535, 20, 11, long(b"")) * 20000]),
            ("a delivery nobody asked for", OPENED + [method(1, 60, 60, DELIVER)]),
            ("a body without a method", OPENED + [frame(3, 1, b"x" * 1000) * 1000]),
            ("a body of 8 EB", OPENED + [
                method(1, 60, 60, DELIVER) + frame(2, 1, struct.pack(">HHQH", 60, 0, 1 << 63, 0)) + frame(3, 1, b"x" * 4000)]),
            ("a body without an end", OPENED + [
                method(1, 60, 60, DELIVER) + frame(2, 1, struct.pack(">HHQH", 60, 0, 1 << 40, 0))
                + frame(3, 1, b"x" * 100000) * 300]),
            ("confirms of nothing", OPENED + [method(1, 60, 80, struct.pack(">QB", 1 << 40, 1)) * 1000]),
        ]

        def serve(client, name, pieces):
            client.settimeout(1)
            try:
                for piece in pieces:
                    client.recv(65536)
                    client.sendall(piece)
                while client.recv(65536):
                    pass
            except OSError:
                pass
            client.close()

        server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
        waiting = []
        while True:
            client, _ = server.accept()
            # In another order each time, so that a worker's two connections take turns.
            waiting = waiting or random.sample(ANSWERS, len(ANSWERS))
            name, pieces = waiting.pop()
            print(name)
            threading.Thread(target=serve, args=(client, name, pieces), daemon=True).start()
        """#
}
