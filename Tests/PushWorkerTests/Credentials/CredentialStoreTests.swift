import APNSClient
import EventLoop
import Foundation
import LocalStack
import Synchronization
import TLS
import TestSupport
import Testing

@testable import PushWorker
@testable import WorkerSettings

@Suite("Credentials that change", .timeLimit(.minutes(1)))
struct CredentialStoreTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory(prefix: "martlet-credentials")
    }

    private func token(_ file: String, keyID: String = "ABC1234567") -> CredentialConfiguration {
        .token(
            TokenCredentialConfiguration(
                name: "key", keyFile: directory.file(file), keyID: keyID, teamID: "DEF1234567"))
    }

    private func store(_ configuration: CredentialConfiguration) throws -> CredentialStore {
        try CredentialStore([configuration], trust: TrustRoots(systemRoots: false, files: []))
    }

    private func newKey() throws -> [UInt8] { try ES256PrivateKey.generate().pem }

    private func rename(_ from: String, to: String) throws {
        try #require(Foundation.rename(directory.file(from), directory.file(to)) == 0)
    }

    @Test("a file that nobody touched is not read again")
    func untouched() throws {
        try directory.write(try newKey(), to: "key.p8")
        let store = try store(token("key.p8"))
        #expect(store.readChanged().isEmpty)
        #expect(store.current("key")?.version == 1)
        #expect(store.current("nobody") == nil)
    }

    @Test("a file renamed into place is a new version; the same content is not")
    func renamed() throws {
        let first = try newKey()
        try directory.write(first, to: "key.p8")
        let store = try store(token("key.p8"))
        try directory.write(first, to: "copy.p8")
        try rename("copy.p8", to: "key.p8")
        guard case .unchanged(name: "key")? = store.readChanged().first else { throw Unexpected() }
        try directory.write(try newKey(), to: "new.p8")
        try rename("new.p8", to: "key.p8")
        guard case .changed(let credential, _)? = store.readChanged().first else { throw Unexpected() }
        #expect(credential.version == 2)
        #expect(store.current("key") === credential)
        #expect(store.readChanged().isEmpty)
    }

    @Test("a link into a directory that is swapped as a whole, as Kubernetes does it, is a new version")
    func swapped() throws {
        let manager = FileManager.default
        for (name, pem) in [("..one", try newKey()), ("..two", try newKey())] {
            _ = try directory.makeDirectory(name)
            try Data(pem).write(to: URL(fileURLWithPath: "\(directory.file(name))/key.p8"))
        }
        try manager.createSymbolicLink(atPath: directory.file("..data"), withDestinationPath: "..one")
        try manager.createSymbolicLink(atPath: directory.file("key.p8"), withDestinationPath: "..data/key.p8")
        let store = try store(token("key.p8"))
        #expect(store.readChanged().isEmpty)
        try manager.createSymbolicLink(atPath: directory.file("..tmp"), withDestinationPath: "..two")
        try rename("..tmp", to: "..data")
        guard case .changed(let credential, _)? = store.readChanged().first else { throw Unexpected() }
        #expect(credential.version == 2)
    }

    @Test("a file that is half written, gone or nonsense changes nothing, and is taken once it is whole")
    func halfWritten() throws {
        let next = try newKey()
        try directory.write(try newKey(), to: "key.p8")
        let store = try store(token("key.p8"))
        for content in [Array(next.prefix(60)), [], Array("nonsense".utf8)] {
            try Data(content).write(to: URL(fileURLWithPath: directory.file("key.p8")))
            guard case .failed(name: "key", let reason, isInUse: true)? = store.readChanged().first else {
                throw Unexpected()
            }
            #expect(reason.contains("key.p8"))
            #expect(store.readChanged().isEmpty)
        }
        try FileManager.default.removeItem(atPath: directory.file("key.p8"))
        guard case .failed? = store.readChanged().first else { throw Unexpected() }
        #expect(store.current("key")?.version == 1)
        try directory.write(next, to: "key.p8")
        guard case .changed(let credential, _)? = store.readChanged().first else { throw Unexpected() }
        #expect(credential.version == 2)
    }

    @Test("a file that cannot be used at first is version 1 once it can; none that can is an error")
    func unusable() throws {
        try directory.write(try newKey(), to: "key.p8")
        let broken = CredentialConfiguration.token(
            TokenCredentialConfiguration(
                name: "broken", keyFile: directory.file("broken.p8"), keyID: "ABC1234567", teamID: "DEF1234567"))
        let trust = TrustRoots(systemRoots: false, files: [])
        let store = try CredentialStore([token("key.p8"), broken], trust: trust)
        #expect(store.current("key")?.version == 1 && store.unusable("key") == nil)
        #expect(store.current("broken") == nil)
        #expect(store.unusable("broken")?.contains("broken.p8") == true)
        #expect(store.statuses.map(\.version) == [0, 1])
        guard case .failed(name: "broken", _, isInUse: false)? = store.failures.first else { throw Unexpected() }
        try directory.write(Array("nonsense".utf8), to: "broken.p8")
        guard case .failed(name: "broken", _, isInUse: false)? = store.readChanged().first else { throw Unexpected() }
        #expect(store.readChanged().isEmpty, "nothing new is not news")
        try directory.write(try newKey(), to: "later.p8")
        var elsewhere = broken
        if case .token(var token) = broken {
            token.keyFile = directory.file("gone.p8")
            elsewhere = .token(token)
        }
        guard case .failed? = store.readAll([elsewhere]).first else { throw Unexpected() }
        try rename("later.p8", to: "gone.p8")
        guard case .changed(let credential, before: nil)? = store.readChanged().first else { throw Unexpected() }
        #expect(credential.version == 1 && store.unusable("broken") == nil && store.failures.isEmpty)
        try FileManager.default.removeItem(atPath: directory.file("broken.p8"))
        try #require(mkfifo(directory.file("broken.p8"), 0o600) == 0, "reading it would wait for a writer")
        for used in [["broken"], nil] as [Set<String>?] {
            let message = #expect(throws: WorkerError.self) {
                try CredentialStore(used == nil ? [broken] : [token("key.p8"), broken], trust: trust, used: used)
            }
            #expect(message?.message.contains("credential broken: ") == true)
        }
    }

    @Test("a broken shape of a key is named at the start, and in place of a good one while the worker runs")
    func shapes() throws {
        let good = try newKey()
        let half = Array(good.prefix(good.count / 2))
        let words = "\(directory.file("key.p8")) ends before the line END of its key: copy the whole file again"
        try directory.write(half, to: "key.p8")
        let failure = #expect(throws: WorkerError.self) { try store(token("key.p8")) }
        #expect(failure?.message == "credential key: \(words)")
        let escaped = String(decoding: good, as: UTF8.self).replacingOccurrences(of: "\n", with: "\\n")
        try directory.write(Array("\u{FEFF}\"\(escaped)\"".utf8), to: "key.p8")
        let running = try store(token("key.p8"))
        try directory.write(half, to: "half.p8")
        try rename("half.p8", to: "key.p8")
        guard case .failed(name: "key", words, isInUse: true)? = running.readChanged().first else { throw Unexpected() }
        #expect(running.current("key")?.version == 1)
    }

    @Test("certificate and key that change one after the other are taken when they fit")
    func pair() throws {
        let apple = try AppleStyleCertificates()
        let first = try apple.issue("push")
        let second = try apple.issue("next")
        let store = try store(
            .certificate(
                CertificateCredentialConfiguration(
                    name: "key", source: .pem(certificateFile: first.certificateFile, keyFile: first.keyFile))))
        let before = try #require(store.current("key"))
        #expect(before.tokens == nil && before.validity != nil && before.onlyTopic == nil)
        #expect(store.statuses.map(\.notAfter) == [before.validity?.upperBound])
        try #require(Foundation.rename(second.certificateFile, first.certificateFile) == 0)
        guard case .failed(_, let reason, _)? = store.readChanged().first else { throw Unexpected() }
        #expect(reason.contains("is not the key of"))
        try #require(Foundation.rename(second.keyFile, first.keyFile) == 0)
        guard case .changed(let after, let label)? = store.readChanged().first else { throw Unexpected() }
        #expect(after.version == 2 && after.label != label && label == before.label)
    }

    @Test("reading on demand takes new identifiers and new names from the configuration, and forgets what is not there")
    func onDemand() throws {
        let pem = try newKey()
        try directory.write(pem, to: "key.p8")
        let store = try store(token("key.p8"))
        guard case .unchanged? = store.readAll([token("key.p8")]).first else { throw Unexpected() }
        try directory.write(try newKey(), to: "other.p8")
        let stranger = CredentialConfiguration.token(
            TokenCredentialConfiguration(
                name: "stranger", keyFile: directory.file("other.p8"), keyID: "XYZ1234567", teamID: "DEF1234567"))
        let changes = store.readAll([token("other.p8", keyID: "NEW1234567"), stranger])
        guard changes.count == 2, case .changed(let credential, _) = changes[0] else { throw Unexpected() }
        #expect(credential.tokens?.keyID == "NEW1234567")
        guard case .changed(let new, before: nil) = changes[1] else { throw Unexpected() }
        #expect(new.name == "stranger" && new.version == 1 && store.current("stranger") === new)
        // The new file is the one that is watched from now on.
        try directory.write(try newKey(), to: "key.p8")
        #expect(store.readChanged().isEmpty)
        #expect(store.readAll([stranger]).count == 1 && store.current("key") == nil)
        #expect(store.statuses.map(\.name) == ["stranger"])
    }

    @Test("a refusal of a version is news once, and only of the present version")
    func refusals() throws {
        try directory.write(try newKey(), to: "key.p8")
        let store = try store(token("key.p8"))
        #expect(store.noteRefused("key", version: 1))
        #expect(!store.noteRefused("key", version: 1))
        try directory.write(try newKey(), to: "next.p8")
        try rename("next.p8", to: "key.p8")
        _ = store.readChanged()
        #expect(!store.noteRefused("key", version: 1))
        #expect(store.noteRefused("key", version: 2))
        #expect(!store.noteRefused("nobody", version: 1))
    }

    @Test("the watcher tells lanes and log of a change by itself, and says on demand what has not changed")
    func watcher() throws {
        try directory.write(try newKey(), to: "key.p8")
        let store = try store(token("key.p8"))
        let log = RecordedLog()
        let told = Mutex<[Int]>([])
        let done = DispatchSemaphore(value: 0)
        let watcher = CredentialWatcher(
            store: store, logger: log.logger, interval: .milliseconds(20),
            announce: { message in
                guard case .credentialChanged(let credential) = message else { return }
                told.withLock { $0.append(credential.version) }
                done.signal()
            })
        let thread = try LoopThread.start(name: "watch") { try? watcher.run() }
        watcher.reload([token("key.p8")])
        log.wait(for: "a credential is unchanged")
        try directory.write(try newKey(), to: "next.p8")
        try rename("next.p8", to: "key.p8")
        #expect(done.wait(timeout: .now() + 20) == .success)
        try directory.write("nonsense", to: "key.p8")
        log.wait(for: "a credential cannot be read: the present one stays in use")
        watcher.stop()
        thread.join()
        #expect(told.withLock { $0 } == [2])
        #expect(log.messages.contains("a credential changed: the new one is proved before it is used"))
        #expect(log.everything.allSatisfy { !$0.contains("PRIVATE") })
    }

    @Test("a certificate that is running out is warned about from the start")
    func expiryLogged() throws {
        let apple = try AppleStyleCertificates()
        var content = AppleStyleCertificates.Content()
        content.notBefore = "20240101000000Z"
        content.notAfter = "20250101000000Z"
        let files = try apple.issue("old", content)
        let store = try store(
            .certificate(
                CertificateCredentialConfiguration(
                    name: "old", source: .pem(certificateFile: files.certificateFile, keyFile: files.keyFile))))
        let log = RecordedLog()
        let watcher = CredentialWatcher(store: store, logger: log.logger, announce: { _ in })
        let thread = try LoopThread.start(name: "watch") { try? watcher.run() }
        log.wait(for: "a certificate has expired: its routes are parked until it is replaced")
        watcher.stop()
        thread.join()
        #expect(log.everything.contains { $0.contains("2025-01-01 00:00:00 UTC") })
    }

    struct Unexpected: Error {}
}
