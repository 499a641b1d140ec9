import EventLoop
package import Foundation
import Glibc

/// A real browser, headless, driven over the DevTools protocol on two pipes: no network port, no web socket.
///
/// See <https://chromedevtools.github.io/devtools-protocol/>.
package final class Browser: Sendable {
    /// What the browser did not do.
    package struct Failure: Error {
        /// What it is, in words.
        package var message: String
    }

    /// The program; Debian's.
    package static let program = "/usr/bin/chromium"

    // Each call runs to its end before the next: the test awaits it.
    nonisolated(unsafe) private var received: [UInt8] = []
    // As above.
    nonisolated(unsafe) private var lastCall = 0
    // As above.
    nonisolated(unsafe) private var session: String?
    // As above.
    nonisolated(unsafe) private var complaints: [String] = []
    private let process = Process()
    private let directory: String
    private let commands: Int32
    private let answers: Int32

    /// Starts the browser with a page.
    package init(page: String) async throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "browser-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let (input, output) = ("\(directory)/in", "\(directory)/out")
        guard mkfifo(input, 0o600) == 0, mkfifo(output, 0o600) == 0 else { throw Failure(message: "no pipes") }
        // Opened both ways, so that neither side waits for the other.
        commands = open(input, O_RDWR | O_CLOEXEC)
        answers = open(output, O_RDWR | O_CLOEXEC)
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            "-c", "exec \"$0\" \"$@\" 3<'\(input)' 4>'\(output)'", Self.program, "--headless", "--no-sandbox",
            "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--window-size=1280,900",
            "--remote-debugging-pipe", "--user-data-dir=\(directory)/profile", "about:blank",
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let target = try await call("Target.createTarget", ["url": "about:blank"])["targetId"] ?? ""
        session =
            try await call("Target.attachToTarget", ["targetId": target, "flatten": true])["sessionId"] as? String
        // What the page writes to its console, what it throws, and what cannot be loaded.
        for domain in ["Runtime", "Log"] { _ = try await call("\(domain).enable", [:]) }
        // Answered once the new document is there, so that nothing is asked of the old one.
        _ = try await call("Page.navigate", ["url": page])
    }

    /// Waits until an expression is true on the page.
    package func wait(for expression: String) async throws {
        let promise = """
            new Promise(done => {
              const look = () => { let holds = false; try { holds = (\(expression)); } catch {}
                if (holds) done("yes"); else setTimeout(look, 40); };
              look();
            })
            """
        guard try await evaluate(promise) == "yes" else { throw Failure(message: "never: \(expression)") }
    }

    /// The value of an expression on the page, as text.
    package func evaluate(_ expression: String) async throws -> String {
        let answer = try await call(
            "Runtime.evaluate", ["expression": "Promise.resolve(\(expression)).then(String)", "awaitPromise": true])
        if let problem = answer["exceptionDetails"] { throw Failure(message: "\(problem)") }
        return (answer["result"] as? [String: Any])?["value"] as? String ?? ""
    }

    /// The errors that the page's console has shown by now.
    package func errors() async throws -> [String] {
        // Whatever came before this answer is read with it.
        _ = try await evaluate("0")
        return complaints
    }

    /// Shows the page as on another device.
    ///
    /// - Parameters:
    ///   - width: The width of the window, in CSS pixels.
    ///   - isDark: Whether the person prefers dark colours.
    package func resize(to width: Int, isDark: Bool) async throws {
        _ = try await call(
            "Emulation.setDeviceMetricsOverride",
            ["width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false])
        let scheme = ["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"]
        _ = try await call("Emulation.setEmulatedMedia", ["features": [scheme]])
    }

    /// A picture of what is drawn inside an element.
    package func picture(of selector: String) async throws -> Data {
        let text = try await evaluate(
            "(r => [r.x, r.y, r.width, r.height].join(' '))(document.querySelector('\(selector)').getBoundingClientRect())"
        )
        let box = text.split(separator: " ").compactMap { Double($0) }
        guard box.count == 4, box[2] > 0, box[3] > 0 else { throw Failure(message: "nothing is drawn: \(text)") }
        let clip = ["x": box[0], "y": box[1], "width": box[2], "height": box[3], "scale": 1]
        let answer = try await call("Page.captureScreenshot", ["format": "png", "clip": clip])
        return Data(base64Encoded: answer["data"] as? String ?? "") ?? Data()
    }

    /// Ends the browser.
    package func close() async {
        _ = try? await call("Browser.close", [:])
        process.terminate()
        process.waitUntilExit()
        Glibc.close(commands)
        Glibc.close(answers)
        // The browser's helpers may write for a moment longer.
        let deadline = MonotonicTime.now() + .seconds(20)
        while FileManager.default.fileExists(atPath: directory), MonotonicTime.now() < deadline {
            try? FileManager.default.removeItem(atPath: directory)
            await Task.yield()
        }
    }

    /// Carries a result between threads.
    private struct Answer: @unchecked Sendable {
        // Protected by the hand-over: the thread that made it ends.
        let values: [String: Any]
    }

    private func call(_ method: String, _ parameters: [String: Any]) async throws -> [String: Any] {
        lastCall += 1
        var message: [String: Any] = ["id": lastCall, "method": method, "params": parameters]
        if let session { message["sessionId"] = session }
        let bytes = [UInt8](try JSONSerialization.data(withJSONObject: message)) + [0]
        let number = lastCall
        // Waiting for a browser is not the business of the cooperative pool, which the admin API needs.
        let answer: Answer = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try self.exchange(bytes, number) }) }
        }
        return answer.values
    }

    private func exchange(_ bytes: [UInt8], _ number: Int) throws -> Answer {
        guard bytes.withUnsafeBytes({ write(commands, $0.baseAddress, $0.count) }) == bytes.count else {
            throw Failure(message: "the browser takes no commands")
        }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            while let end = received.firstIndex(of: 0) {
                let message = Data(received[..<end])
                received.removeFirst(end + 1)
                let object = try JSONSerialization.jsonObject(with: message) as? [String: Any] ?? [:]
                if let complaint = Self.complaint(object) { complaints.append(complaint) }
                guard object["id"] as? Int == number else { continue }
                if let problem = object["error"] { throw Failure(message: "\(problem)") }
                return Answer(values: object["result"] as? [String: Any] ?? [:])
            }
            var request = pollfd(fd: answers, events: Int16(POLLIN), revents: 0)
            guard poll(&request, 1, 40_000) == 1 else { throw Failure(message: "the browser is silent") }
            let count = read(answers, &buffer, buffer.count)
            guard count > 0 else { throw Failure(message: "the browser is gone") }
            received += buffer[..<count]
        }
    }

    /// What an event says is wrong; nil for any other message.
    private static func complaint(_ message: [String: Any]) -> String? {
        let facts = message["params"] as? [String: Any] ?? [:]
        let isOne =
            switch message["method"] as? String {
            case "Runtime.exceptionThrown": true
            case "Runtime.consoleAPICalled": facts["type"] as? String == "error"
            case "Log.entryAdded": (facts["entry"] as? [String: Any])?["level"] as? String == "error"
            default: false
            }
        return isOne ? "\(facts)" : nil
    }
}
