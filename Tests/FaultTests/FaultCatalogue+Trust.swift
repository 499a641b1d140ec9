import LocalStack
import Rig

// The broker does not let workers in, or workers do not trust it.
extension FaultCatalogue {
    /// Faults of logins, certificates and whatever cannot be believed.
    static let trust = logins + certificates + badInput

    private static let logins = [
        Fault(
            25, name: "login and rights withdrawn", expects: "Asks again with a pause; no log has the password",
            setup: { $0.workers = 0 }
        ) { ring in
            let worker = try await ring.startWorker(password: "hush-4711")
            try await ring.noteHeld()
            try await ring.control("change_password", user, "other-4711")
            try await ring.control("close_all_connections", "new password")
            ring.note(try await ring.awaitRefusals("ACCESS_REFUSED", of: worker))
            try await ring.control("change_password", user, "hush-4711")
            try await ring.awaitReady()
            // What it may not publish it keeps.
            try await ring.noteHeld()
            try await ring.control("set_permissions", user, "^$", "^$", ".*")
            try await ring.control("close_all_connections", "fewer rights")
            try await ring.awaitStandstill("403")
            try await ring.noteHeld()
            try await ring.control("clear_permissions", user)
            try await ring.control("close_all_connections", "no rights")
            ring.note(try await ring.awaitRefusals("refused", of: worker))
            try await ring.control("set_permissions", user, "^$", ".*", ".*")
            try await ring.awaitReady()
            for secret in ["hush-4711", "other-4711"] {
                ring.expect(!worker.log.contains(secret), "the worker's log says the password")
            }
        },
        Fault(
            56, name: "password expires", expects: "Logs in with the new one, from its file",
            setup: { $0.workers = 0 }
        ) { ring in
            let worker = try await ring.startWorker(password: "hush-4711", inFile: true)
            try await ring.noteHeld()
            try await ring.control("change_password", user, "fresh-4711")
            try await ring.control("close_all_connections", "expired")
            try await ring.awaitLog("ACCESS_REFUSED", of: worker)
            try await ring.until("the worker is not ready") { worker.saysUnready }
            try ring.writeLogin("fresh-4711")
            try await ring.awaitReady()
            for secret in ["hush-4711", "fresh-4711"] {
                ring.expect(!worker.log.contains(secret), "the worker's log says the password")
            }
        },
    ]

    fileprivate static let user = "pusher"
}

extension FaultRing {
    /// The file with the address that workers connect to, login included.
    fileprivate var loginFile: String { local.directory.file("broker-uri") }

    /// Writes that file.
    fileprivate func writeLogin(_ password: String) throws {
        try local.directory.write(uri(password), to: "broker-uri")
    }

    private func uri(_ password: String) -> String {
        "amqp://\(FaultCatalogue.user):\(password)@127.0.0.1:\(broker.port)/"
    }

    /// Makes a user of the broker, starts a worker that logs in as this one, and waits until half of the jobs are done.
    fileprivate func startWorker(password: String, inFile: Bool = false) async throws -> FaultWorker {
        try await control("add_user", FaultCatalogue.user, password)
        try await control("set_permissions", FaultCatalogue.user, "^$", ".*", ".*")
        try writeLogin(password)
        let worker = try startWorker(
            inFile ? ["MARTLET_BROKER_URI_FILE": loginFile] : ["MARTLET_BROKER_URI": uri(password)])
        try await until("half of the jobs are with APNs") { [self] in pushes >= setup.jobs / 2 }
        return worker
    }

    /// Waits until a worker was refused several times, and expects it to wait in between.
    ///
    /// - Parameters:
    ///   - text: What its log says about it.
    ///   - worker: The worker.
    /// - Returns: How often it was refused, in words.
    @discardableResult
    func awaitRefusals(_ text: String, of worker: FaultWorker) async throws -> String {
        let before = worker.logLines(with: text)
        let began = ContinuousClock.now
        try await until("the worker is refused again and again") { worker.logLines(with: text) >= before + 6 }
        try await endure(.seconds(3))
        let seconds = Int(began.duration(to: .now).components.seconds)
        let refusals = worker.logLines(with: text) - before
        // Two connections, each waiting half a second at first and up to four later.
        expect(refusals <= 12 + 3 * seconds, "\(refusals) logins in \(seconds) s")
        expect(worker.saysUnready, "the worker does not say that it is not ready although it is refused")
        return "\(refusals) refusals in \(seconds) s"
    }
}
