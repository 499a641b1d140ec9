import EventLoop
import Testing

@testable import PushWorker

@Suite("Messages to the service manager", .timeLimit(.minutes(1)))
struct ServiceManagerMessageTests {
    @Test("A message is one assignment a line, as sd_notify(3) has them")
    func text() {
        let rows: [(ServiceManagerMessage, String)] = [
            (ServiceManagerMessage(change: .ready), "READY=1"),
            (ServiceManagerMessage(change: .ready, status: "ready"), "READY=1\nSTATUS=ready"),
            (
                ServiceManagerMessage(change: .reloading(MonotonicTime(nanoseconds: 1_234_567_891))),
                "RELOADING=1\nMONOTONIC_USEC=1234567"
            ),
            (ServiceManagerMessage(change: .stopping, status: "draining"), "STOPPING=1\nSTATUS=draining"),
            (ServiceManagerMessage(feedsWatchdog: true), "WATCHDOG=1"),
            (
                ServiceManagerMessage(change: .ready, status: "ready", feedsWatchdog: true),
                "READY=1\nSTATUS=ready\nWATCHDOG=1"
            ),
        ]
        for (message, text) in rows { #expect(message.text == text) }
    }

    @Test("A status is one line of limited length, whatever a peer wrote into it")
    func status() {
        let forged = ServiceManagerMessage(status: "waits: refused\nREADY=1\r\nMAINPID=1\u{7f}\0")
        #expect(forged.text == "STATUS=waits: refused READY=1 MAINPID=1  ")
        let long = ServiceManagerMessage(status: String(repeating: "é", count: 5_000))
        #expect(long.text.count == "STATUS=".count + ServiceManagerMessage.longestStatus)
    }

    @Test("The environment says where the service manager listens, and whether its watchdog is for this process")
    func address() {
        let rows: [([String: String], socket: String?, watchdog: Duration?)] = [
            ([:], nil, nil),
            (["NOTIFY_SOCKET": ""], nil, nil),
            (["WATCHDOG_USEC": "30000000"], nil, nil),
            (["NOTIFY_SOCKET": "/run/systemd/notify"], "/run/systemd/notify", nil),
            (["NOTIFY_SOCKET": "@here", "WATCHDOG_USEC": "30000000"], "@here", .seconds(30)),
            (["NOTIFY_SOCKET": "@here", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "42"], "@here", .seconds(30)),
            (["NOTIFY_SOCKET": "@here", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "43"], "@here", nil),
            (["NOTIFY_SOCKET": "@here", "WATCHDOG_USEC": "0"], "@here", nil),
            (["NOTIFY_SOCKET": "@here", "WATCHDOG_USEC": "-1"], "@here", nil),
            (["NOTIFY_SOCKET": "@here", "WATCHDOG_USEC": "soon"], "@here", nil),
        ]
        for (environment, socket, watchdog) in rows {
            let address = ServiceManagerAddress(environment, processID: 42)
            #expect(address?.socket == socket, "\(environment)")
            #expect(address?.watchdog == watchdog, "\(environment)")
        }
    }
}
