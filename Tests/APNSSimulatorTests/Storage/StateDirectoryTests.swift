import Foundation
import TLS
import Testing

@testable import APNSSimulator

@Suite("Files of the state directory", .timeLimit(.minutes(1)))
struct StateDirectoryTests {
    private let directory: StateDirectory

    init() throws {
        directory = try StateDirectory(
            FileManager.default.temporaryDirectory.appending(path: "state-\(UUID().uuidString)").path)
    }

    private func remove() { try? FileManager.default.removeItem(atPath: directory.path) }

    @Test("A file that is there but cannot be read is an error, not absent, and is not replaced")
    func unreadable() throws {
        defer { remove() }
        #expect(try directory.read("channels.json", limit: 1 << 20) == nil)
        for name in ["channels.json", "provider-ca.pem", "control.json"] {
            try FileManager.default.createDirectory(atPath: directory.file(name), withIntermediateDirectories: true)
            let error = #expect(throws: SimulatorError.self) { try directory.read(name, limit: 1 << 20) }
            #expect(error?.code == .file && error?.message.contains("cannot read") == true)
        }
        #expect(throws: SimulatorError.self) { try DeviceArchive(in: directory).loadBroadcastChannels() }
        #expect(throws: SimulatorError.self) { try CertificateStore.providerAuthority(directory: directory.path) }
        #expect(try directory.read("provider-ca-key.pem", limit: 1 << 20) == nil)
    }

    @Test("A file larger than what is read is not written, and the old one stays")
    func limit() throws {
        defer { remove() }
        try directory.write([1, 2], to: "file", isSecret: true, limit: 2)
        #expect(throws: SimulatorError.self) {
            try directory.write([1, 2, 3], to: "file", isSecret: true, limit: 2)
        }
        #expect(try directory.read("file", limit: 2) == [1, 2])
    }

    @Test("Several that need the provider authority at once all get the same one")
    func authority() async throws {
        defer { remove() }
        let path = directory.path
        let made = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<8 {
                group.addTask { try CertificateStore.providerAuthority(directory: path).certificatePEM }
            }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(made.count == 1)
    }
}
