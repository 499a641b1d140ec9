/// What an answer of APNs means to each whom it concerns: one row of the only table that reads status and reason.
///
/// Apple's list: <https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns>
package struct AnswerMeaning: Sendable, Equatable {
    /// For its notification, before attempts, age and deadlines are looked at.
    let notification: NotificationMeaning
    /// For the connection it came on.
    package let connection: ConnectionConsequence
    /// For the credential it was asked with.
    package let credential: CredentialVerdict
    /// For what else is to be pushed.
    package let service: ServiceState

    /// Whether it says that the device token is dead.
    package var isDeadToken: Bool { notification == .deadToken }

    /// Whether the credential, or how it is used, is what must change before anything is sent again.
    package var parksRoute: Bool { notification == .park }

    /// Reads an answer: by its reason where that is a listed one, else by its status class.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - reason: The reason in the body; nil where it is missing or could not be read.
    package init(status: Int, reason: Reason?) {
        // 201 and 204 are how APNs accepts the making and the end of a channel.
        if status == 200 || status == 201 || status == 204 {
            self.init(.accepted, status)
            return
        }
        switch reason?.known {
        case .unregistered, .expiredToken, .badDeviceToken:
            self.init(.deadToken, status)
        case .expiredProviderToken:
            self.init(.resend(lastly: .park), status, credential: .tokenExpired)
        case .unrelatedKeyIDInToken:
            self.init(.resend(lastly: .park), status)
        case .shutdown, .idleTimeout:
            self.init(.resend(lastly: .retry), status)
        case .tooManyRequests:
            self.init(.retry, status, service: .deviceThrottled)
        case .internalServerError, .serviceUnavailable, .serviceUnavailableSpaced:
            self.init(.retry, status)
        case .invalidProviderToken, .badCertificate:
            self.init(.park, status, credential: .refused(.everyRoute))
        case .missingProviderToken, .badCertificateEnvironment, .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken,
            .forbidden:
            self.init(.park, status, credential: .refused(.oneRoute))
        case .tooManyProviderTokenUpdates:
            self.init(.park, status, credential: .tokenChangedTooOften)
        case .deviceTokenNotForTopic, .badTopic, .missingTopic, .topicDisallowed, .topicMismatch, .featureNotEnabled:
            self.init(.rejected(.fixTopic), status)
        case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .duplicateHeaders, .invalidPushType,
            .missingDeviceToken, .payloadEmpty, .badPath, .methodNotAllowed, .payloadTooLarge, .missingChannelID,
            .badChannelID, .channelNotRegistered, .badRequestParams, .badRequestPayload, .missingPushType,
            .cannotCreateChannelConfig, .missingChannelQueueSize:
            self.init(.rejected(.fixRequest), status)
        default:
            self.init(status: status, unlisted: reason?.rawValue ?? "")
        }
    }

    /// Apple's list grows: what this version has not heard of is judged by its beginning, then by its status.
    private init(status: Int, unlisted reason: String) {
        if reason.hasPrefix("BadCertificate") {
            self.init(.park, status, credential: .refused(.everyRoute))
        } else if reason.hasPrefix("BadEnvironmentKey") {
            self.init(.park, status, credential: .refused(.oneRoute))
        } else {
            switch status {
            case 429, 500...599: self.init(.retry, status)
            case 403: self.init(.rejected(.fixCredential), status)
            default: self.init(.rejected(.fixRequest), status)
            }
        }
    }

    /// One row; what is not given follows from the status.
    private init(
        _ notification: NotificationMeaning, _ status: Int, credential: CredentialVerdict? = nil,
        service: ServiceState? = nil
    ) {
        self.notification = notification
        self.credential = credential ?? (status == 403 ? .doubted : status >= 500 ? .unexamined : .accepted)
        self.service = service ?? (status >= 500 ? .troubled : .working)
        connection =
            switch notification {
            case .resend, .park: .retire
            case .accepted, .deadToken, .retry, .rejected: status >= 500 ? .strike : .keep
            }
    }
}

/// What an answer means for its notification.
enum NotificationMeaning: Sendable, Equatable {
    /// APNs took it.
    case accepted
    /// The device token is dead.
    case deadToken
    /// Not this notification's fault but the connection's; when that has been said often enough, the last resort is used.
    case resend(lastly: LastResort)
    /// Come back later.
    case retry
    /// Not this notification's fault but the credential's.
    case park
    /// Refused for good.
    case rejected(Action)

    /// What is done once new connections have not helped.
    enum LastResort: Sendable, Equatable {
        case retry, park
    }
}

/// What an answer means for the connection it came on.
package enum ConnectionConsequence: Sendable, Equatable {
    /// Nothing.
    case keep
    /// Count it against the connection, which is retired when it happens again and again.
    case strike
    /// Take no more requests on it, let the rest finish, and close it.
    case retire
}

/// What an answer says about the credential it was asked with.
package enum CredentialVerdict: Sendable, Equatable {
    /// It is good.
    case accepted
    /// Nothing is said against it; a server in trouble may not have looked at it at all.
    case unexamined
    /// The request was turned away for it, though it may be good.
    case doubted
    /// The provider token is too old: a new one is to be made.
    case tokenExpired
    /// The provider token changes too often: Apple's limit is one change in 20 minutes.
    case tokenChangedTooOften
    /// It is bad.
    case refused(RefusalScope)

    /// Whose credential is meant by a refusal.
    package enum RefusalScope: Sendable, Equatable {
        /// That of every route that shares it.
        case everyRoute
        /// What one route does with it: another may use it well.
        case oneRoute
    }

    /// Whether it is bad.
    package var isRefusal: Bool { if case .refused = self { true } else { false } }

    /// Whether the request was turned away for its credential: then nothing was said about the notification.
    package var turnsAway: Bool {
        switch self {
        case .accepted, .unexamined: false
        case .doubted, .tokenExpired, .tokenChangedTooOften, .refused: true
        }
    }
}

/// What an answer says about everything else that is to be pushed.
package enum ServiceState: Sendable, Equatable {
    /// APNs does its work.
    case working
    /// One device token got too many notifications, which must rest.
    case deviceThrottled
    /// APNs is in trouble.
    case troubled
}

/// What stands in the body of an answer, as far as that is known before it is read.
package enum AnswerBody: Sendable, Equatable {
    /// Nothing that is wanted.
    case nothing
    /// What was asked for about channels, in the body or beside it.
    case channel(isNeeded: Bool)
    /// A reason. Where it is needed, the status alone says no more than that the request was not carried out.
    case reason(isNeeded: Bool)

    /// What to look for.
    ///
    /// - Parameters:
    ///   - status: The HTTP status, from 200.
    ///   - operation: What was asked for.
    package init(status: Int, of operation: ChannelOperation) {
        switch status {
        case 200..<300 where operation != .push:
            self = .channel(isNeeded: operation == .readChannel || operation == .listChannels)
        case 200: self = .nothing
        case 429: self = .reason(isNeeded: false)
        case 300..<500: self = .reason(isNeeded: true)
        default: self = .reason(isNeeded: false)
        }
    }
}

extension Answer {
    /// What the answer means.
    package var meaning: AnswerMeaning { AnswerMeaning(status: status, reason: reason) }
}

extension Attempted {
    /// Whether APNs answered what it says only to those whose credential it does not turn away.
    package var provesCredential: Bool {
        guard case .response(let answer) = self else { return false }
        return !answer.meaning.credential.turnsAway
    }
}

extension Reason {
    /// Whether a GOAWAY frame with this reason, which has no status, refuses the credential.
    package var refusesCredential: Bool { AnswerMeaning(status: 403, reason: self).credential.isRefusal }
}
