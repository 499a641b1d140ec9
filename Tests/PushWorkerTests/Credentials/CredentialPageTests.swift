import TestSupport
import Testing
import WorkerSettings

@testable import PushWorker

@Suite("The page about credentials", .timeLimit(.minutes(1)))
struct CredentialPageTests {
    @Test("Credentials names lines of the log that workers write")
    func lines() throws {
        let lines = try Page(documentation: "Credentials").names("log message", in: "Replace one without a restart")
        #expect(lines.count > 3)
        let code = try SourceCode.text("PushWorker/Credentials")
        #expect(lines.filter { !code.contains("\"\($0)\"") } == [])
    }

    @Test("Credentials says how long before a certificate's end the log warns, and no other time")
    func expiry() throws {
        let warnings = CredentialExpiryStateMachine.Stage.allCases.filter { ![.far, .over].contains($0) }
        let days = warnings.map { "\($0.limit / 86_400)" }
        let times = try Page(documentation: "Credentials").rows("before the end", in: "Certificates").map { $0[0] }
        let listed = days.dropLast().joined(separator: ", ") + " and \(days.last ?? "") days"
        #expect(times == [listed, "all the time", "at the end"])
    }

    @Test("Credentials says how often the files of credentials are looked at")
    func interval() throws {
        let page = try Page(documentation: "Credentials")
        let seconds = CredentialWatcher.interval.components.seconds
        #expect(page.text(of: "Replace one without a restart").contains("Wait \(seconds) s, or send SIGHUP."))
        let rows = page.rows("when", in: "Files that cannot be used")
        #expect(rows.contains { $0[1].hasSuffix("looked at every \(seconds) s") })
    }

    @Test("Credentials says of each kind of file what it may be, and names no other setting")
    func files() throws {
        let listed = try Page(documentation: "Credentials").names("file", in: "Files that cannot be used")
        let settings = try SourceCode.text("WorkerSettings/Keys/CredentialKeys.swift")
        #expect(listed == ["key_file", "cert_file", "file"])
        for name in listed { #expect(settings.contains("\"credentials[].\(name)\""), "\(name)") }
    }
}
