import EventLoop
import TestSupport
import Testing

@testable import PushWorker

@Suite("The page about service managers", .timeLimit(.minutes(1)))
struct ServiceManagerPageTests {
    private let rows: [[String]]

    init() throws { rows = try Page(documentation: "Operating").rows("message", in: "Service manager") }

    /// What a row says about a message.
    private func when(_ message: String) throws -> String { try #require(rows.first { $0[0] == message })[1] }

    @Test("Operating lists the messages that a service manager gets, and no other")
    func messages() {
        let messages = [
            ServiceManagerMessage(change: .ready), ServiceManagerMessage(change: .reloading(1)),
            ServiceManagerMessage(change: .stopping), ServiceManagerMessage(status: "…"),
            ServiceManagerMessage(feedsWatchdog: true),
        ]
        // The moment of a reload belongs to its message.
        let written = messages.flatMap { $0.text.split(separator: "\n") }.filter { !$0.hasPrefix("MONOTONIC_USEC=") }
        #expect(Set(rows.flatMap { Page.quoted($0[0]) }) == Set(written.map(String.init)))
    }

    @Test("Operating says what a status may be, and how long a worker may wait before it is called ready")
    func words() throws {
        var report = ServiceManagerReport(watchdog: nil)
        let looks: [ServiceManagerReport.Look] = [.init(), .init(isAlive: false)]
        var words = looks.compactMap { report.next($0, at: 0)?.status }
        words += [report.stop()?.status].compactMap(\.self)
        // Behind a colon stands what is the matter.
        let listed = Page.quoted(try when("`STATUS=…`"))
        #expect(Set(listed) == Set(words.map { String($0.prefix { $0 != ":" }) }))
        let patience = ServiceManagerReport.patience.components.seconds
        #expect(try when("`READY=1`").hasSuffix("the worker has waited for \(patience) s"))
    }
}
