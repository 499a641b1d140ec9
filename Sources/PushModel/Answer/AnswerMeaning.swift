/// What an answer of APNs means for its notification, connection and credential, and for other pushes. It is one row of
/// the only table that judges status and reason.
///
/// ``AnswerBody`` says where the parts of an answer are found. That is decided before the answer has a reason.
///
/// Apple's list:
/// <https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns>
package struct AnswerMeaning: Sendable, Equatable {
    /// What an answer means for the connection it came on.
    package enum ConnectionConsequence: Sendable, Equatable {
        /// Nothing.
        case keep
        /// Count a strike against the connection. A connection with many strikes is retired.
        case strike
        /// Send no more requests on the connection, let the open ones finish, and close it.
        case retire
    }

    /// What an answer says about other pushes.
    package enum ServiceState: Sendable, Equatable {
        /// APNs does its work.
        case working
        /// One device token got too many notifications. That token must rest.
        case deviceThrottled
        /// APNs is in trouble, or something on the way to it.
        case troubled
    }

    /// What it means for its notification, before attempts, age and deadlines are considered.
    let notification: NotificationMeaning
    /// What it means for the connection on which the answer came.
    package let connection: ConnectionConsequence
    /// What it means for the credential of the request.
    package let credential: CredentialVerdict
    /// What it means for other pushes.
    package let service: ServiceState

    /// Whether the answer says that the device token is dead.
    package var isDeadToken: Bool { notification == .deadToken }

    /// Whether APNs did what it was asked for.
    package var isAccepted: Bool { notification == .accepted }

    /// Whether a status of APNs says that it did what it was asked for. It answers 201 when it made a broadcast channel,
    /// and 204 when it deleted one.
    package static func isAcceptance(_ status: Int, of operation: BroadcastChannelOperation) -> Bool {
        status == 200 || (operation.isManagement && (status == 201 || status == 204))
    }

    /// Judges an answer. What APNs did not say is trouble on the way to it. A success of APNs accepts, whatever the
    /// reason. Else a listed reason decides. An unlisted reason is judged by its beginning, then by the status.
    ///
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - reason: The reason in the body; nil if it is missing or could not be read.
    ///   - speaker: Who gave the answer.
    package init(status: Int, reason: Reason?, speaker: Speaker = .apns) {
        switch (speaker, status) {
        case (.gateway, _): self.init(.retry)
        case (.apns, 200), (.apns, 201), (.apns, 204): self.init(.accepted, status)
        case (.unknown, _), (.apns, 200...299): self.init(.unproved)
        case (.apns, _): self.init(ofAPNs: status, reason)
        }
    }

    /// Judges a refusal or an error of APNs.
    private init(ofAPNs status: Int, _ reason: Reason?) {
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

    /// Judges a reason that is not listed, or none: by its beginning, then by the status. Apple's list grows.
    private init(status: Int, unlisted reason: String) {
        if reason.hasPrefix("BadCertificate") {
            self.init(.park, status, credential: .refused(.everyRoute))
        } else if reason.hasPrefix("BadEnvironmentKey") {
            self.init(.park, status, credential: .refused(.oneRoute))
        } else {
            switch status {
            // Without a reason of APNs' nobody knows who gave the answer, so it proves no credential. Only
            // `TooManyRequests` is about one device.
            case 429, 500...599: self.init(.retry, status, credential: .unexamined, service: .troubled)
            case 403: self.init(.rejected(.fixCredential), status, credential: .unexplained)
            default: self.init(.rejected(.fixRequest), status)
            }
        }
    }

    /// What an answer means that is not APNs': the same as an error of APNs.
    private init(_ notification: NotificationMeaning) {
        self.notification = notification
        (credential, service, connection) = (.unexamined, .troubled, .strike)
    }

    /// One row. A verdict or state that is not given follows from the status.
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
            case .accepted, .unproved, .deadToken, .retry, .rejected: status >= 500 ? .strike : .keep
            }
    }
}

extension Answer {
    /// What the answer means.
    package var meaning: AnswerMeaning { AnswerMeaning(status: status, reason: reason, speaker: speaker) }
}

extension Reason {
    /// What a GOAWAY frame with this reason, which has no status, says about the credential.
    package var credentialVerdict: CredentialVerdict { AnswerMeaning(status: 403, reason: self).credential }
}
