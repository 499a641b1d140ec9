import LocalStack
import Testing

@testable import MartletCommands

// What people see on a terminal.
extension CommandBrokerTests {
    @Test("Following with a summary counts on the terminal while results come, and ends with the table")
    func followSummary() throws {
        let output = try TemporaryDirectory()
        let process = try Executable.startOnTerminal(
            ["results", "--follow", "--summary", "--count", "20", "--timeout", "40s"],
            environment: ["MARTLET_BROKER_URI": broker.uri], output: output.file("out"))
        var published = 0
        while published < 400 && process.wait(timeout: .milliseconds(100)) == nil {
            try publish([result("accepted", job: "s\(published)")], to: "apns.results")
            published += 1
        }
        #expect(process.wait(timeout: .seconds(10)) == .exited(0))
        let parts = try ChildProcess.run("/bin/cat", [output.file("out")]).text.split(separator: "\r\u{1b}[K")
        let drawn = parts.filter { $0.contains(" results  accepted ") }
        #expect(drawn.count > 1 && Set(drawn).count == drawn.count, "\(parts)")
        #expect(parts.last?.contains("accepted         20") == true, "\(parts)")
        try broker.control(["purge_queue", "apns.q.results"])
    }

    @Test("Results of a push and of a queue are coloured on a terminal, but not where NO_COLOR holds something")
    func colours() throws {
        for noColour in [nil, "", "1"] {
            var environment = ["MARTLET_BROKER_URI": broker.uri]
            environment["NO_COLOR"] = noColour
            let pushed = try push("c\(noColour ?? "")") { arguments, file in
                try Executable.startOnTerminal(arguments, environment: environment, output: file)
            }
            try broker.control(["purge_queue", "apns.q.results"])
            try publish([result("rejected", job: "c")], to: "apns.results")
            let output = try TemporaryDirectory()
            let results = try Executable.startOnTerminal(
                ["results", "--drain", "--yes"], environment: environment, output: output.file("out"))
            #expect(results.wait(timeout: .seconds(30)) == .exited(0))
            for text in [pushed, try ChildProcess.run("/bin/cat", [output.file("out")]).text] {
                #expect(text.contains("rejected"))
                #expect(text.contains("\u{1b}[31mrejected\u{1b}[0m") == (noColour != "1"), "\(text)")
                if noColour == "1" { #expect(!text.contains("\u{1b}[3"), "\(text)") }
            }
        }
    }
}
