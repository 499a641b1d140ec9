import PushModel
import RabbitMQ
import Rig

/// The letter of dead device tokens, without the rest of its job.
struct DeadTokenLetter {
    /// The message without its bytes, for its acknowledgement.
    let message: BrokerMessage
    /// The device tokens that it is about.
    let tokens: [DeadToken]
    /// What the worker asked to do about the device tokens; nil from older workers, which did not say.
    let action: String?
    /// When it was written, in milliseconds since 1970; never in the future.
    let diedAt: Int64

    /// Reads a letter; nil where it is not a worker's letter about device tokens.
    ///
    /// - Parameters:
    ///   - letter: The letter.
    ///   - now: Milliseconds since 1970.
    init?(_ letter: DeadLetter, now: Int64) {
        let bytes = letter.message.delivery.bytes
        guard !letter.isFromBroker, let written = letter.diedAt,
            let properties = try? MessagePropertyReader(bytes, letter.message.delivery.properties),
            case .success(let job) = LetterJob.read(
                letter.message, properties, LetterJob.headers(of: properties, in: bytes, keepingDeadline: true),
                routingKey: letter.jobRoutingKey, now: now),
            let environment = job.environment
        else { return nil }
        let action = letter.message.header(HeaderName.action)
        let place = DeadToken.Place(
            environment: "\(environment.text)", topic: String(decoding: job.bytes[job.topic], as: UTF8.self))
        // No token died in the future. Earlier versions passed on such times of APNs.
        let died = min(written, now)
        let times = letter.message.header(HeaderName.tokenInvalidSince)?.split(separator: ",").map { Int64($0) ?? 0 }
        var tokens: [DeadToken] = []
        var next = job.nextIndex(from: 0)
        while let index = next {
            // APNs was never asked about such a token.
            guard job.tokenDefect(index) == nil else { return nil }
            let since = times.flatMap { tokens.count < $0.count && $0[tokens.count] > 0 ? $0[tokens.count] : nil }
            tokens.append(
                DeadToken(
                    token: String(decoding: job.bytes[job.deviceToken(index)], as: UTF8.self), place: place,
                    invalidSince: since.map { min($0, died) }, diedAt: died, reason: letter.reason,
                    isHeld: action != "\(Action.dropToken.text)"))
            next = job.nextIndex(from: index + 1)
        }
        guard !tokens.isEmpty else { return nil }
        self.tokens = tokens
        self.action = action
        diedAt = died
        message = letter.message.withoutContent
    }
}
