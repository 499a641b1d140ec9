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
        switch GatewayPushType.implied(by: topic) {
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
