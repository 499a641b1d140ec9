import APNSSimulator
import Testing

@testable import martlet

@Suite("What the demo does with its devices", .timeLimit(.minutes(1)))
struct DemoDevicePlanTests {
    private typealias Plan = DemoDevicePlan

    @Test("A few dozen pushes; every device gets some in every round, and half of them are raw")
    func plan() {
        #expect((36...60).contains(Plan.count))
        for round in Plan.Round.allCases {
            #expect(Set(Plan.pushes(in: round).map(\.device)) == Set(Plan.owners.indices))
        }
        let jobs = (1...Plan.count).map {
            Plan.job(Plan.Push(device: 0, app: 1), token: "ab", number: $0, id: "id-\($0)")
        }
        #expect(jobs.filter { $0.rawToken == "ab" }.count == Plan.count / 2)
        for job in jobs where job.rawToken == nil {
            #expect(job.body.hasPrefix("{\"id\":\"\(job.id)\",\"device_token\":\"ab\",\"payload\":{\"aps\""))
        }
        #expect(jobs.allSatisfy { $0.topic == "com.example.news" && $0.notifications == 1 })
    }

    @Test("Who is away gets the newest of each app only, who lost an app nothing of it, all others everything")
    func arrivals() {
        let apart = Plan.pushes(in: .apart)
        for (device, owner) in Plan.owners.enumerated() {
            let own = apart.filter { $0.device == device }
            let arriving = Plan.arrivals(in: .apart, at: device)
            switch owner.fate {
            case .stays: #expect(arriving == own.count)
            case .leaves: #expect(arriving == 3 && own.count == 6)
            case .uninstalls: #expect(arriving == 1 && own.count == 3)
            }
        }
        // Nothing is pushed to an app that is gone for good.
        let finn = Plan.pushes(in: .reunited).filter { Plan.owners[$0.device].fate == .uninstalls }
        #expect(finn.map(\.app) == [1, 2])
    }

    @Test("A device's story: tokens, notifications in words, absence, an app that is gone")
    func story() {
        var member = DemoDevices.Member(owner: Plan.owners[4])
        func notification(_ id: String, _ payload: String) -> DeviceEvent {
            var frame = DeviceFrame(.notification)
            frame.id = id
            frame.payload = payload
            return .notification(frame)
        }
        member.take(.online(device: "d"), at: 10)
        #expect(member.isOnline && member.absence == nil)
        member.take(.token(app: "a", topic: "a", environment: "development", token: "aa"), at: 11)
        member.take(notification("AB", #"{"aps":{"alert":{"title":"shop","body":"Number 1"}}}"#), at: 12)
        #expect(member.last == "shop: Number 1")
        member.absence = DemoDevices.Absence(left: 20, arrivalsBefore: 1)
        member.take(.offline(reason: "told to be", retryIn: nil), at: 21)
        #expect(!member.isOnline)
        member.take(.online(device: "d"), at: 30)
        member.take(notification("cd", "{}"), at: 31)
        member.take(.online(device: "d"), at: 40)
        #expect(member.absence == DemoDevices.Absence(left: 20, arrivalsBefore: 1, back: 30, arrivalsUntilBack: 1))
        #expect(member.arrivals == ["ab", "cd"] && member.last == "{}")
        #expect(member.arrivals(sinceReturn: "cd") && !member.arrivals(sinceReturn: "ab"))
        member.take(.done("uninstalled a"), at: 50)
        #expect(member.removed == ["a"] && member.tokens == ["a": "aa"])
    }
}

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
