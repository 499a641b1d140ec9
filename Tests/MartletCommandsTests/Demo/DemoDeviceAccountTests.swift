import Rig
import Testing

@testable import MartletCommands

@Suite("The demo's account of its devices", .timeLimit(.minutes(1)))
struct DemoDeviceAccountTests {
    private typealias Push = DemoDeviceAccount.Push

    private func push(_ id: String, _ time: Int64, token: String = "aa", status: Int = 200) -> Push {
        Push(id: id, token: token, status: status, time: time)
    }

    private func member(
        _ arrivals: [String], _ fate: DemoDevicePlan.Fate = .stays, absence: DemoDevices.Absence? = nil
    ) -> DemoDevices.Member {
        DemoDevices.Member(
            owner: DemoDevicePlan.Owner(name: "X", fate: fate), tokens: ["a": "aa", "b": "bb"], arrivals: arrivals,
            absence: absence)
    }

    @Test("Who was online has everything that APNs accepted, in whatever order, and twice if it was accepted twice")
    func complete() {
        let account = DemoDeviceAccount(
            member(["2", "1", "3", "1"]),
            pushes: [push("1", 1), push("2", 2), push("3", 3, token: "bb"), push("1", 4), push("9", 5, token: "cc")])
        #expect(account.isClean)
        #expect(account.accepted == 3 && account.received == 3)
    }

    @Test("What was accepted for a device that was online and did not arrive is missing; what APNs refused is not")
    func missing() {
        let pushes = [push("1", 1), push("2", 2), push("3", 3, status: 400)]
        let account = DemoDeviceAccount(member(["1"]), pushes: pushes)
        #expect(!account.isClean)
        #expect(account.missing == ["2"])
        #expect(DemoDeviceAccount.complaints([account])[0].names == ["X 2"])
    }

    @Test("What arrived and was never accepted is found, and so is a device to which nothing came")
    func strangers() {
        let account = DemoDeviceAccount(member(["1", "7"]), pushes: [push("1", 1)])
        #expect(account.unexpected == ["7"] && !account.isClean)
        let idle = DemoDeviceAccount(member([]), pushes: [])
        #expect(!idle.isClean)
        #expect(DemoDeviceAccount.complaints([idle])[2].names == ["X"])
    }

    private let absence = DemoDevices.Absence(left: 10, arrivalsBefore: 1, back: 20, arrivalsUntilBack: 1)
    private let whileAway = [(1, "1", "aa"), (11, "2", "aa"), (12, "3", "aa"), (13, "4", "bb"), (21, "5", "aa")]

    @Test(
        "Who was away gets the newest of each app on return; an older one was replaced, any other is missing",
        arguments: [
            (["1", "3", "4", "5"], [], 2, 1), (["1", "4", "5"], ["3"], 1, 1), (["1", "2", "3", "4", "5"], [], 3, 0),
            (["3", "4", "5"], ["1", "3"], 1, 1), (["1", "3", "4"], ["5"], 2, 1), (["1", "2", "4", "5"], ["3"], 2, 0),
        ] as [([String], [String], Int, Int)])
    func away(arrivals: [String], missing: [String], onReturn: Int, replaced: Int) {
        let pushes = whileAway.map { push($1, Int64($0), token: $2) }
        let account = DemoDeviceAccount(member(arrivals, .leaves, absence: absence), pushes: pushes)
        #expect(account.missing == missing)
        #expect(account.onReturn == onReturn && account.replaced == replaced)
        #expect(account.isClean == missing.isEmpty)
        #expect(account.accepted == account.received + account.replaced + account.missing.count)
    }

    @Test("Who never came back misses the newest of each app")
    func lost() {
        let gone = DemoDevices.Absence(left: 10, arrivalsBefore: 1)
        let pushes = whileAway.map { push($1, Int64($0), token: $2) }
        let account = DemoDeviceAccount(member(["1"], .leaves, absence: gone), pushes: pushes)
        #expect(account.missing == ["4", "5"])
    }

    @Test("Who lost an app has to see 410 for it, and who only left and came back something stored")
    func shown() {
        let pushes = [push("1", 1), push("2", 2, status: 410)]
        let account = DemoDeviceAccount(member(["1"], .uninstalls), pushes: pushes)
        #expect(account.isClean && account.unregistered == 1)
        #expect(!DemoDeviceAccount(member(["1"], .uninstalls), pushes: [pushes[0]]).isClean)
        #expect(!DemoDeviceAccount(member(["1"], .stays), pushes: pushes).isClean)
        #expect(!DemoDeviceAccount(member(["1"], .leaves, absence: absence), pushes: [pushes[0]]).isClean)
    }
}
