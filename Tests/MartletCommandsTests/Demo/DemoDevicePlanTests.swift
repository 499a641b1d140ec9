import APNSSimulator
import Rig
import Testing

@testable import MartletCommands

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
