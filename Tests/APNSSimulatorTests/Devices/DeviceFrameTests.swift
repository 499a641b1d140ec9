import FoundationEssentials
import TestSupport
import Testing
import Text

@testable import APNSSimulator

@Suite("What devices say and are told", .timeLimit(.minutes(1)))
struct DeviceFrameTests {
    @Test("A frame comes out as it went in, in any portions", arguments: [1, 3, 7, 1000])
    func portions(_ portion: Int) throws {
        var register = DeviceFrame(.register, request: 7)
        register.app = "com.example.\u{e9}"
        var notification = DeviceFrame(.notification)
        notification.payloadData = Data([0xFF, 0])
        notification.collapseID = "\"quoted\""
        let frames = [register, notification, DeviceFrame(.ping)]
        let bytes = frames.flatMap(\.wire)
        var reader = DeviceFrameReader()
        var read: [DeviceFrame] = []
        for start in stride(from: 0, to: bytes.count, by: portion) {
            reader.append(bytes[start..<min(start + portion, bytes.count)])
            while let next = try reader.next() { read.append(try DeviceFrame(bytes: next)) }
        }
        #expect(read == frames)
    }

    @Test("The longest payloads fit into a frame, whatever bytes they have")
    func longest() throws {
        for byte in [UInt8(ascii: "\""), 0x01, 0xFF, UInt8(ascii: "a")] {
            let notification = StoredNotification(
                id: UUIDBytes(high: 0, low: 1), uniqueID: UUIDBytes(high: 0, low: 2),
                app: String(repeating: "a", count: 180), topic: String(repeating: "a", count: 180), type: "voip",
                priority: 10, collapseID: String(repeating: "\u{1}", count: 64), acceptedAt: .max, deadline: .max,
                payload: Data(repeating: byte, count: 5120))
            let wire = DeviceFrame(NotificationStore.Delivery(number: .max, notification: notification)).wire
            #expect(wire.count <= DeviceFrame.lengthLimit)
            var reader = DeviceFrameReader()
            reader.append(wire[...])
            let body = try reader.next()
            let frame = try DeviceFrame(bytes: try #require(body))
            #expect((frame.payload.map { Data($0.utf8) } ?? frame.payloadData) == notification.payload)
        }
    }

    @Test("Foreign bytes are errors or frames, never more")
    func foreign() {
        var random = SplitMix64(seed: 7)
        let good = DeviceFrame(.hello).wire
        for _ in 0..<3000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            var reader = DeviceFrameReader()
            reader.append(bytes[...])
            do throws(SimulatorError) {
                guard let body = try reader.next() else { continue }
                let frame = try DeviceFrame(bytes: body)
                #expect(frame.wire.count > 4)
            } catch {
                #expect(error.code == .protocol)
            }
        }
    }

    @Test(
        "Typed commands",
        arguments: [
            ("offline", .offline), (" Online ", .online), ("low-power", .power(.low)),
            ("normal-power", .power(.normal)), ("uninstall", .uninstall(app: "a")),
            ("uninstall b", .uninstall(app: "b")), ("reinstall", .reinstall(app: "a")),
            ("install b", .reinstall(app: "b")), ("restore", .restore),
            ("subscribe c=", .subscribe(app: "a", broadcastChannel: "c=")),
            ("subscribe c b", .subscribe(app: "b", broadcastChannel: "c")),
            ("unsubscribe c", .unsubscribe(app: "a", broadcastChannel: "c")), ("mute", .mute(app: "a")),
            ("unmute b", .unmute(app: "b")), ("quit", .quit), ("", nil), ("subscribe", nil), ("offline now", nil),
            ("fly", nil), ("a b c d", nil),
        ] as [(String, DeviceCommand?)])
    func commands(_ line: String, _ command: DeviceCommand?) {
        #expect(DeviceCommand(line: line, app: "a") == command)
    }

    @Test("Simulator lists the lines that a device understands, as its help does")
    func page() throws {
        let listed = try Page(documentation: "Simulator").names("line", in: "Devices")
        for line in listed { #expect(DeviceCommand(line: line, app: "a") != nil, "\(line)") }
        let help = DeviceCommand.help.matches(of: /(?m)(?:^|\| |; )([a-z-]+)(?= \[| \||  |$| ends| [A-Z])/)
        let words = listed.compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(words.count > 10 && Set(words) == Set(help.map { String($0.output.1) }))
    }

    @Test("Waits double up to a limit, vary by half, and begin again after success")
    func backoff() {
        var backoff = DeviceBackoff()
        var waits: [Int] = []
        for _ in 0..<10 { waits.append(backoff.failed(fraction: 1)) }
        #expect(waits == [250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000, 15_000])
        backoff.succeeded()
        #expect(backoff.failed(fraction: 0) == DeviceBackoff.first / 2)
        #expect((250...500).contains(backoff.failed(fraction: 0.5)))
    }

    @Test("The certificate's subject names the device, and nothing else does")
    func subjects() {
        let device = DeviceID(UUIDBytes(high: 1, low: 2))
        #expect(DeviceID(certificateSubject: "CN=\(device)") == device)
        #expect(DeviceID(certificateSubject: "O=x,CN=\(device)") == device)
        for other in ["", "CN=", "CN=phone", "UID=\(device)"] {
            #expect(DeviceID(certificateSubject: other) == nil)
        }
    }
}
