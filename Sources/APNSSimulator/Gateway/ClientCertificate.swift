internal import TLS

/// The extensions of Apple's push certificates.
///
/// See Apple, "Sending notification requests to APNs", and the archived "Communicating with APNs".
enum PushCertificateExtension {
    /// The certificate is for the development environment.
    static let development = "1.2.840.113635.100.6.3.1"
    /// The certificate is for the production environment.
    static let production = "1.2.840.113635.100.6.3.2"
    /// The topics for VoIP pushes.
    static let voip = "1.2.840.113635.100.6.3.4"
    /// All topics: a SEQUENCE of texts, each followed by a SEQUENCE of labels.
    static let topics = "1.2.840.113635.100.6.3.6"

    /// How many topics a certificate can have.
    static let topicLimit = 400

    private static let utf8String: UInt8 = 0x0C
    private static let ia5String: UInt8 = 0x16
    private static let sequence: UInt8 = 0x30

    /// Reads the topics of an extension; labels are left out.
    ///
    /// - Parameter content: The DER bytes, from anybody.
    /// - Returns: The topics in order, as far as the bytes make sense.
    static func topics(in content: [UInt8]) -> [String] {
        guard let outer = DERValue.first(in: content[...]) else { return [] }
        if let text = text(outer.value) { return [text] }
        guard outer.value.tag == sequence else { return [] }
        var found: [String] = []
        var rest = outer.value.content
        while found.count < topicLimit, let next = DERValue.first(in: rest) {
            if let text = text(next.value) { found.append(text) }
            rest = next.rest
        }
        return found
    }

    /// Writes the extension of all topics.
    ///
    /// - Parameter topics: The topics in order.
    /// - Returns: The DER bytes.
    static func content(topics: [String]) -> [UInt8] {
        let parts = topics.flatMap { topic -> [UInt8] in
            DERValue.encode(utf8String, Array(topic.utf8))
                + DERValue.encode(sequence, DERValue.encode(utf8String, Array(label(of: topic).utf8)))
        }
        return DERValue.encode(sequence, parts)
    }

    /// The word Apple puts beside a topic.
    private static func label(of topic: String) -> String {
        switch PushType.implied(by: topic) {
        case .voip: "voip"
        case .complication: "complication"
        default: "app"
        }
    }

    private static func text(_ value: DERValue) -> String? {
        guard value.tag == utf8String || value.tag == ia5String, !value.content.isEmpty,
            value.content.count <= PushRules.topicLimit
        else { return nil }
        return String(validating: value.content, as: UTF8.self)
    }
}

/// One element of DER: as much of ITU-T X.690 as a list of topics needs.
struct DERValue: Equatable {
    /// The identifier byte; long identifiers are not read.
    var tag: UInt8
    /// What is inside.
    var content: ArraySlice<UInt8>

    /// Reads the first element.
    ///
    /// - Parameter bytes: Bytes from anybody.
    /// - Returns: The element and what follows, or nil where the bytes end early or the length is not one.
    static func first(in bytes: ArraySlice<UInt8>) -> (value: DERValue, rest: ArraySlice<UInt8>)? {
        guard bytes.count >= 2, let tag = bytes.first, tag & 0x1F != 0x1F else { return nil }
        var position = bytes.startIndex + 2
        var length = Int(bytes[bytes.startIndex + 1])
        if length >= 0x80 {
            let digits = length & 0x7F
            guard (1...3).contains(digits), bytes.endIndex - position >= digits else { return nil }
            length = bytes[position..<(position + digits)].reduce(0) { $0 << 8 | Int($1) }
            position += digits
        }
        guard bytes.endIndex - position >= length else { return nil }
        return (DERValue(tag: tag, content: bytes[position..<(position + length)]), bytes[(position + length)...])
    }

    /// Writes an element.
    ///
    /// - Parameters:
    ///   - tag: The identifier byte.
    ///   - content: What is inside, less than 64 KiB.
    /// - Returns: The bytes.
    static func encode(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        if count < 0x80 { return [tag, UInt8(count)] + content }
        if count < 0x100 { return [tag, 0x81, UInt8(count)] + content }
        return [tag, 0x82, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)] + content
    }
}

/// What a provider's client certificate allows.
///
/// See Apple, "Establishing a certificate-based connection to APNs":
/// <https://developer.apple.com/documentation/usernotifications/establishing-a-certificate-based-connection-to-apns>
struct ClientCertificate: Equatable {
    /// The serial number, by which it is revoked.
    var serialNumber: String
    /// The topics it covers: the subject's UID and those of its extensions, each once.
    var topics: [String]
    /// The environments it is for; both where its extensions name none.
    var environments: Set<ServiceEnvironment>
    /// The end of its validity, in seconds since 1970.
    var notAfter: Int64
    /// Whether its chain was verified.
    var isTrusted: Bool

    /// The topic of pushes that name none; nil where the certificate has several.
    var onlyTopic: String? { topics.count == 1 ? topics.first : nil }

    /// Judges the certificate itself.
    ///
    /// - Parameters:
    ///   - environment: The environment the connection was made to.
    ///   - now: Seconds since 1970.
    ///   - isRevoked: Whether the certificate was revoked.
    /// - Returns: Nil where it is good.
    func refusal(environment: ServiceEnvironment, now: Int64, isRevoked: Bool) -> Refusal? {
        if !isTrusted || isRevoked || now > notAfter || topics.isEmpty { return .badCertificate }
        return environments.contains(environment) ? nil : .badCertificateEnvironment
    }

    /// Judges a push's topic; location pushes need a provider token in any case.
    ///
    /// - Parameters:
    ///   - push: A push that broke no other rule.
    ///   - choices: What is answered.
    /// - Returns: Nil where the certificate covers it.
    func refusal(of push: ValidPush, choices: TrustChoices) -> Refusal? {
        topics.contains(push.topic) && push.type != .location ? nil : choices.topicOutsideCertificate
    }
}

extension ClientCertificate {
    /// Reads a certificate that a client showed.
    ///
    /// - Parameter peer: The certificate.
    init(_ peer: PeerCertificate) {
        var topics = peer.userID.map { [$0] } ?? []
        for identifier in [PushCertificateExtension.topics, PushCertificateExtension.voip] {
            let listed = peer.content(ofExtension: identifier).map(PushCertificateExtension.topics(in:)) ?? []
            for topic in listed where !topics.contains(topic) { topics.append(topic) }
        }
        var environments: Set<ServiceEnvironment> = []
        if peer.content(ofExtension: PushCertificateExtension.development) != nil { environments.insert(.development) }
        if peer.content(ofExtension: PushCertificateExtension.production) != nil { environments.insert(.production) }
        self.init(
            serialNumber: peer.serialNumber, topics: topics,
            environments: environments.isEmpty ? Set(ServiceEnvironment.allCases) : environments,
            notAfter: peer.notAfter, isTrusted: peer.distrust == nil)
    }
}
