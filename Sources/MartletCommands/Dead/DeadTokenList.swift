import PushModel
import Rig

/// The device tokens that letters call dead, each device token of a topic once: a pure value.
///
/// A hold begins only after a worker has seen some fifty dead device tokens, or more on a busy route. Until then its
/// letters say `drop_token`. So a letter is on hold, too, if another letter of the same topic says `hold` up to an hour
/// later.
struct DeadTokenList {
    /// A hold makes the letters of so many minutes before it doubtful.
    static let doubtfulMinutes: Int64 = 60

    /// How many device tokens of one topic are dead.
    struct Count {
        /// What they are dead for.
        var place: DeadToken.Place
        /// How many may be deleted.
        var dead = 0
        /// How many more are on hold, because they may be alive.
        var held = 0
    }

    /// Two device tokens are the same if they have the same name.
    private struct Name: Hashable {
        var token: String
        var place: DeadToken.Place
    }

    private var letters: [DeadTokenLetter] = []
    /// The minutes since 1970 in which letters say `hold`.
    private var holds: [DeadToken.Place: Set<Int64>] = [:]

    /// How many wanted letters were added.
    var letterCount: Int { letters.count }

    /// Adds a letter.
    ///
    /// - Parameters:
    ///   - letter: The letter.
    ///   - isWanted: Whether its device tokens are wanted. A hold counts in any case: it concerns other letters, too.
    mutating func add(_ letter: DeadTokenLetter, isWanted: Bool) {
        if letter.action == "\(Action.hold.text)", let place = letter.tokens.first?.place {
            holds[place, default: []].insert(letter.diedAt / 60_000)
        }
        if isWanted { letters.append(letter) }
    }

    /// The messages of the letters whose device tokens may be printed.
    ///
    /// - Parameter held: Whether device tokens on hold may be printed as well.
    func settled(includingHeld held: Bool) -> [BrokerMessage] {
        letters.filter { held || !isHeld($0) }.map(\.message)
    }

    /// The device tokens in an order that is always the same.
    ///
    /// - Parameter held: Whether device tokens on hold are among them.
    func tokens(includingHeld held: Bool) -> [DeadToken] {
        merged.filter { held || !$0.isHeld }.sorted {
            ($0.place.environment, $0.place.topic, $0.token) < ($1.place.environment, $1.place.topic, $1.token)
        }
    }

    /// How many device tokens there are, by topic.
    var counts: [Count] {
        var counts: [DeadToken.Place: Count] = [:]
        for token in merged {
            if token.isHeld {
                counts[token.place, default: Count(place: token.place)].held += 1
            } else {
                counts[token.place, default: Count(place: token.place)].dead += 1
            }
        }
        return counts.values.sorted {
            ($0.place.environment, $0.place.topic) < ($1.place.environment, $1.place.topic)
        }
    }

    private var merged: some Collection<DeadToken> {
        var known: [Name: DeadToken] = [:]
        for letter in letters {
            let isHeld = isHeld(letter)
            for var token in letter.tokens {
                token.isHeld = isHeld
                let name = Name(token: token.token, place: token.place)
                if let other = known[name], !token.outranks(other) { continue }
                known[name] = token
            }
        }
        return known.values
    }

    private func isHeld(_ letter: DeadTokenLetter) -> Bool {
        guard let token = letter.tokens.first, !token.isHeld else { return true }
        guard let minutes = holds[token.place] else { return false }
        let minute = letter.diedAt / 60_000
        return (minute...minute + Self.doubtfulMinutes).contains { minutes.contains($0) }
    }
}
