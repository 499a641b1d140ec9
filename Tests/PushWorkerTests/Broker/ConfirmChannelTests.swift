import EventLoop
import Testing

@testable import PushWorker

@Suite("A publisher's channel", .timeLimit(.minutes(1)))
struct ConfirmChannelTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private func opened(at time: MonotonicTime) -> ConfirmChannel {
        var channel = ConfirmChannel()
        channel.connected()
        _ = channel.begins(now: time)
        channel.opened()
        return channel
    }

    @Test("it is asked for once per connection, and the broker owes it an answer until it is open")
    func opening() {
        var channel = ConfirmChannel()
        let isEarly = channel.begins(now: Self.start)
        channel.connected()
        let begins = [channel.begins(now: Self.start), channel.begins(now: Self.start)]
        #expect(!isEarly && begins == [true, false])
        #expect(channel.awaitedSince == Self.start && !channel.isOpen)
        channel.opened()
        #expect(channel.isOpen && channel.awaitedSince == nil)
    }

    @Test(
        "one that lasted is opened again at once, one that did not waits, and so does one that is never to hurry",
        arguments: [
            (Duration.seconds(2), Duration.seconds(1), true), (.milliseconds(900), .seconds(1), false),
            (.seconds(60), nil, false),
        ] as [(Duration, Duration?, Bool)])
    func closing(lifetime: Duration, lasting: Duration?, isAtOnce: Bool) throws {
        var (channel, random) = (opened(at: Self.start), SystemRandomNumberGenerator())
        let end = Self.start + lifetime
        channel.closed(now: end, lasting: lasting, random: &random)
        let due = try #require(channel.dueAt)
        #expect(!channel.isOpen && channel.isReopening == isAtOnce)
        #expect(isAtOnce ? due == end : due > end && due <= end + .milliseconds(100))
    }

    @Test("a lost connection takes the wait along, and a reason to hurry ends it")
    func lost() {
        var (channel, random) = (opened(at: Self.start), SystemRandomNumberGenerator())
        channel.closed(now: Self.start, random: &random)
        channel.hurry()
        let begins = channel.begins(now: Self.start)
        channel.lost()
        channel.hurry()
        #expect(begins && channel.dueAt == nil && !channel.isReopening)
    }
}
