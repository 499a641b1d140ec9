import EventLoop
import TestSupport
import Testing

@testable import APNSClient

@Suite("Whether a refused credential is believed to be bad", .timeLimit(.minutes(1)))
struct CredentialDoubtTests {
    @Test("it is, where nothing was accepted before, and it is not, where something was", arguments: [true, false])
    func once(hasAccepted: Bool) {
        var doubt = CredentialDoubt()
        #expect(!doubt.isOpen(now: 0))
        #expect(doubt.believes(hasAccepted: hasAccepted, isFirst: true, now: 0) == !hasAccepted)
        #expect(doubt.isOpen(now: 0) == hasAccepted)
        #expect(!doubt.isOpen(now: 0 + .seconds(60)))
    }

    @Test(
        "the tenth connection within a minute that refuses is believed, and then it all begins again",
        arguments: [(6, 9), (6.6, 9), (7, nil), (60, nil)] as [(Double, Int?)])
    func often(secondsBetween: Double, believed: Int?) {
        var doubt = CredentialDoubt()
        let answers = (0..<15).map { number in
            doubt.believes(
                hasAccepted: true, isFirst: true, now: 0 + .milliseconds(Int(secondsBetween * 1_000) * number))
        }
        #expect(answers.firstIndex(of: true) == believed)
        #expect(answers.count { $0 } == (believed == nil ? 0 : 1))
    }

    @Test("further refusals on the same connection neither count nor are believed")
    func rest() {
        var doubt = CredentialDoubt()
        for number in 0..<1_000 {
            #expect(doubt.believes(hasAccepted: true, isFirst: number == 0, now: 0) == false)
        }
    }

    @Test("what is believed ends the doubt")
    func ended() {
        var doubt = CredentialDoubt()
        _ = doubt.believes(hasAccepted: true, isFirst: true, now: 0)
        #expect(doubt.believes(hasAccepted: false, isFirst: true, now: 0 + .seconds(1)) == true)
        #expect(!doubt.isOpen(now: 0 + .seconds(1)))
    }
}
