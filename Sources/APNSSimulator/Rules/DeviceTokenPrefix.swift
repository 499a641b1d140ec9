/// Device tokens whose first digits choose the verdict, so that a test needs no scenario file.
///
/// | first digits | verdict |
/// |---|---|
/// | `600d0000` | 200, also where a scenario says otherwise |
/// | `bad` + two digits *n* + status | reason number *n* of that status, counted as in ``Refusal/known`` |
/// | `bad99` + 400 to 599 | that status with a reason that Apple does not document, `SimulatedUnknownReason` |
/// | `bad` + two digits that number no reason of that status, up to 39 | 400 `SimulatedNoSuchReason` |
/// | other pairs of digits and status | nothing: one random token in 43,000 is `bad` and five decimal digits |
/// | `dead0410`, `dead1410` | `Unregistered`, `ExpiredToken` with a timestamp one day old |
/// | `fa11` + *n* + status | *n* times (1 to 9) the first reason of that status, then 200 |
/// | `fa11` + *n* + `000` | *n* times no answer, then 200 |
/// | `fa11` + *n* + `007` | *n* times REFUSED_STREAM, then 200 |
/// | `de1a00` + four decimal digits | that many milliseconds, then 200 |
/// | `0ff00000` | no answer at all |
/// | `c0de00` + two digits | RST_STREAM with that HTTP/2 error code, 00 to 0d |
/// | `90a000` + code | 200, then GOAWAY with that error code; the connection drains |
/// | `90a100` + code | GOAWAY with the last-stream-id just before this push |
/// | `90a200` + code | GOAWAY that includes this push, which gets no answer; the connection closes |
/// | `c105ed00` | the connection is closed without a word |
///
/// Each takes at least eight digits, so that a random token meets one about once in six million.
package enum DeviceTokenPrefix {
    /// How many digits a prefix has at most.
    static let digits = 10

    /// The reason text of `bad99…`.
    package static let unknownReason = "SimulatedUnknownReason"

    /// The reason text where `bad…` asks for a reason by a number that its status does not have.
    package static let missingReason = "SimulatedNoSuchReason"

    /// The reason numbers that count as a typing mistake if the status has no such reason. A token with a higher number
    /// counts as a random one.
    private static let mistakenNumbers = 0..<40

    /// Reads a device token's prefix.
    ///
    /// - Parameters:
    ///   - token: The device token's digits.
    ///   - now: Milliseconds since 1970, for timestamps.
    /// - Returns: The verdicts it asks for, or nil where it has no special prefix.
    static func sequence(of token: [UInt8], now: Int64) -> VerdictSequence? {
        guard token.count >= 8, mayBegin(token) else { return nil }
        let head = String(decoding: token.prefix(digits), as: UTF8.self).lowercased()
        let first = Array(head.utf8.prefix(8))
        switch head.prefix(4) {
        case "600d": return first.suffix(4).elementsEqual("0000".utf8) ? VerdictSequence(.accept) : nil
        case "0ff0": return first.suffix(4).elementsEqual("0000".utf8) ? VerdictSequence(Verdict(.silent)) : nil
        case "c105": return first.suffix(4).elementsEqual("ed00".utf8) ? VerdictSequence(Verdict(.close)) : nil
        case "dead": return dead(String(head.prefix(8)), now: now)
        case "fa11": return failing(head)
        case "de1a": return delaying(head)
        case "c0de", "90a0", "90a1", "90a2": return coded(head)
        default: return head.hasPrefix("bad") ? bad(head, now: now) : nil
        }
    }

    /// Whether a token can have a prefix. This test runs for every push and excludes almost every token at once; the
    /// later steps work on text and are slower.
    private static func mayBegin(_ token: [UInt8]) -> Bool {
        var head: UInt32 = 0
        // Bit 5 makes letters lower case and is set in digits anyhow.
        for index in 0..<4 { head = head << 8 | UInt32(token[index] | 0x20) }
        return heads.contains(head) || head >> 8 == bad
    }

    private static let heads = ["600d", "0ff0", "c105", "dead", "fa11", "de1a", "c0de", "90a0", "90a1", "90a2"].map(
        packed)
    private static let bad = packed("bad")

    private static func packed(_ text: String) -> UInt32 { text.utf8.reduce(0) { $0 << 8 | UInt32($1) } }

    private static func dated(_ refusal: Refusal, now: Int64) -> Refusal {
        guard refusal.status == 410 else { return refusal }
        var dated = refusal
        dated.timestamp = now - 86_400_000
        return dated
    }

    private static func dead(_ head: String, now: Int64) -> VerdictSequence? {
        switch head {
        case "dead0410": VerdictSequence(Verdict(.refuse(dated(.unregistered, now: now))))
        case "dead1410": VerdictSequence(Verdict(.refuse(dated(.expiredToken, now: now))))
        default: nil
        }
    }

    private static func bad(_ head: String, now: Int64) -> VerdictSequence? {
        guard let number = Int(head.dropFirst(3).prefix(2)), let status = Int(head.dropFirst(5).prefix(3)) else {
            return nil
        }
        if number == 99, (400...599).contains(status) {
            return VerdictSequence(Verdict(.refuse(Refusal(status, unknownReason))))
        }
        let candidates = Refusal.known.filter { $0.status == status }
        guard !candidates.isEmpty, mistakenNumbers.contains(number) else { return nil }
        // Without this answer a typing mistake would be answered 200.
        guard number < candidates.count else {
            return VerdictSequence(Verdict(.refuse(Refusal(400, missingReason))))
        }
        return VerdictSequence(Verdict(.refuse(dated(candidates[number], now: now))))
    }

    private static func failing(_ head: String) -> VerdictSequence? {
        guard let count = Int(head.dropFirst(4).prefix(1)), count > 0, let status = Int(head.dropFirst(5).prefix(3))
        else { return nil }
        switch status {
        case 0: return VerdictSequence(Verdict(.silent), count: count)
        case 7: return VerdictSequence(Verdict(.reset(7)), count: count)
        default:
            guard let refusal = Refusal.documented.first(where: { $0.status == status }) else { return nil }
            return VerdictSequence(Verdict(.refuse(refusal)), count: count)
        }
    }

    private static func delaying(_ head: String) -> VerdictSequence? {
        guard head.utf8.count == 10, head.hasPrefix("de1a00"), let delay = Int(head.dropFirst(6)) else { return nil }
        return VerdictSequence(Verdict(.accept, delay: delay))
    }

    private static func coded(_ head: String) -> VerdictSequence? {
        guard head.dropFirst(4).hasPrefix("00"), let code = UInt32(head.dropFirst(6).prefix(2), radix: 16),
            code < UInt32(HTTP2CodeName.names.count)
        else { return nil }
        let reason = code == 0 ? Refusal.shutdown.reason : nil
        func goAway(_ reach: Verdict.Reach) -> VerdictSequence {
            VerdictSequence(Verdict(.goAway(Verdict.GoAway(code: code, reason: reason, reach: reach))))
        }
        switch head.prefix(4) {
        case "c0de": return VerdictSequence(Verdict(.reset(code)))
        case "90a0": return goAway(.accepted)
        case "90a1": return goAway(.before)
        default: return goAway(.unanswered)
        }
    }

    /// The table of prefixes as text, for the command's help.
    package static var help: String {
        var lines = [
            "600d0000        200 whatever the scenario says",
            "dead0410        410 Unregistered, timestamp one day old",
        ]
        var numbers: [Int: Int] = [:]
        for refusal in Refusal.known {
            let number = numbers[refusal.status, default: 0]
            numbers[refusal.status] = number + 1
            let digits = number < 10 ? "0\(number)" : "\(number)"
            lines.append("bad\(digits)\(refusal.status)        \(refusal.status) \(refusal.reason)")
        }
        lines += [
            "bad99<status>   a reason Apple does not document, with any status from 400 to 599: bad99418",
            "bad<n><status>  400 SimulatedNoSuchReason where the status has no reason of that number, up to 39",
            "                nothing for higher numbers and other statuses: bad40400, bad00418, bad99200",
            "fa11<n><status> n times (1-9) the first reason of that status, then 200: fa112429, fa113500",
            "fa11<n>000      n times no answer, then 200; fa11<n>007: n times REFUSED_STREAM",
            "de1a00<ms>      200 after four decimal digits of milliseconds: de1a000250",
            "0ff00000        no answer",
            "c0de00<code>    RST_STREAM with that HTTP/2 error code in hexadecimal: c0de0008",
            "90a000<code>    200, then GOAWAY; 90a100<code>: GOAWAY before this push; 90a200<code>: GOAWAY, no answer",
            "c105ed00        the connection is closed without a word, so other pushes on it get no answer either",
            "Other digits choose nothing: 200, or what the scenario says.",
        ]
        return lines.joined(separator: "\n")
    }
}
