import APNSSimulator
import Testing

@testable import MartletCommands

@Suite("A device's screen", .timeLimit(.minutes(1)))
struct DevicePictureTests {
    private func notification(_ payload: String, collapse: String? = nil) -> DeviceEvent {
        var frame = DeviceFrame(.notification)
        frame.app = "com.example.app"
        frame.payload = payload
        frame.collapseID = collapse
        return .notification(frame)
    }

    @Test("It shows the connection, the newest token of each topic and the newest notifications first")
    func content() {
        var picture = DevicePicture(name: "Phone")
        picture.take(.online(device: "d"))
        for token in ["aa", "bb"] {
            picture.take(.token(app: "a", topic: "com.example.app", environment: "development", token: token))
        }
        for number in 1...(DevicePicture.shownLimit + 3) { picture.take(notification("n\(number)")) }
        let lines = picture.lines(colour: false)
        #expect(lines.first == "Phone  online")
        #expect(!lines.contains("  aa"))
        #expect(lines.contains("  bb"))
        let shown = lines.filter { $0.contains("com.example.app  n") }
        #expect(shown.count == DevicePicture.shownLimit)
        #expect(shown.first?.hasSuffix("n15") == true)
    }

    @Test("The same collapse identifier merges; control characters never reach the terminal")
    func safe() {
        var picture = DevicePicture(name: "Phone\u{1b}[2J")
        picture.take(notification("score 1", collapse: "score"))
        picture.take(notification("score 2", collapse: "score"))
        picture.take(notification("\u{1b}]0;title\u{7}\u{9b}31m\n"))
        picture.take(.trouble("one\ntwo"))
        let text = picture.lines(colour: false).joined()
        #expect(!text.contains("score 1"))
        #expect(text.contains("score 2"))
        #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control })
        #expect(picture.lines(colour: false).contains("! one"))
        #expect(picture.lines(colour: false).contains("two"))
    }

    @Test("Where colours are allowed, how the device is and what is wrong have one, and nothing that others said")
    func colours() {
        var picture = DevicePicture(name: "online")
        #expect(picture.lines(colour: true).first == "online  \u{1b}[33mconnecting\u{1b}[0m")
        picture.take(.online(device: "d"))
        #expect(picture.lines(colour: true).first == "online  \u{1b}[32monline\u{1b}[0m")
        picture.take(.offline(reason: "\u{1b}[2J", retryIn: nil))
        picture.take(.trouble("one\ntwo"))
        let lines = picture.lines(colour: true)
        #expect(lines.first?.hasPrefix("online  \u{1b}[31moffline (") == true)
        #expect(lines.first?.contains("\u{1b}[2J") == false)
        #expect(lines.contains("\u{1b}[31m! one\u{1b}[0m") && lines.contains("\u{1b}[31mtwo\u{1b}[0m"))
        picture.take(.done("well"))
        #expect(picture.lines(colour: true).contains("well"))
        #expect(picture.lines(colour: false).allSatisfy { !$0.contains("\u{1b}") })
    }

    @Test("Elsewhere every event is one JSON object")
    func lines() {
        let events: [(DeviceEvent, String)] = [
            (.activated(device: "d"), #"{"event":"activated","device":"d"}"#),
            (.offline(reason: "r", retryIn: nil), #"{"event":"offline","reason":"r","retry_in_ms":null}"#),
            (.trouble("a\nb"), #"{"event":"trouble","message":"a\nb"}"#),
            (.done("x"), #"{"event":"done","message":"x"}"#),
        ]
        for (event, line) in events { #expect(DeviceLines.line(for: event).description == line) }
    }
}
