/// What an answer of APNs means to each whom it concerns: one row of the only table that judges status and reason.
///
/// Where an answer's parts are found is another question, which is settled before it has a reason (``AnswerBody``).
///
/// Apple's list:
/// <https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns>
package struct AnswerMeaning: Sendable, Equatable {
    /// What an answer means for the connection it came on.
    package enum ConnectionConsequence: Sendable, Equatable {
        /// Nothing.
        case keep
        /// Count it against the connection, which is retired when it happens again and again.
        case strike
        /// Take no more requests on it, let the rest finish, and close it.
        case retire
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

    /// Reads an answer: by its reason where that is a listed one, else by its status class.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - reason: The reason in the body; nil where it is missing or could not be read.
    package init(status: Int, reason: Reason?) {
        // 201 and 204 are how APNs accepts the making and the end of a broadcast channel.
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
            case 403: self.init(.rejected(.fixCredential), status, credential: .unexplained)
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

extension Answer {
    /// What the answer means.
    package var meaning: AnswerMeaning { AnswerMeaning(status: status, reason: reason) }
}

extension Reason {
    /// What a GOAWAY frame with this reason, which has no status, says about the credential.
    package var credentialVerdict: CredentialVerdict { AnswerMeaning(status: 403, reason: self).credential }
}
