import TLS

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

    /// The most topics that are read from one extension, or issued in one certificate.
    static let topicLimit = 400

    /// Reads the topics of an extension; labels are left out.
    ///
    /// - Parameter content: The DER bytes, from anybody.
    /// - Returns: The topics in order, as far as the bytes make sense.
    static func topics(in content: [UInt8]) -> [String] {
        var whole = DERReader(content)
        guard let outer = whole.next() else { return [] }
        if let text = text(of: outer, in: content) { return [text] }
        guard outer.tag == DERReader.Tag.sequence else { return [] }
        var found: [String] = []
        var entries = DERReader(content, within: outer)
        while found.count < topicLimit, let entry = entries.next() {
            if let text = text(of: entry, in: content) { found.append(text) }
        }
        return found
    }

    /// Writes the extension of all topics.
    ///
    /// - Parameter topics: The topics in order.
    /// - Returns: The DER bytes.
    static func content(topics: [String]) -> [UInt8] {
        let parts = topics.flatMap { topic -> [UInt8] in
            element(DERReader.Tag.utf8String, Array(topic.utf8))
                + element(DERReader.Tag.sequence, element(DERReader.Tag.utf8String, Array(label(of: topic).utf8)))
        }
        return element(DERReader.Tag.sequence, parts)
    }

    /// The label that Apple writes after a topic.
    private static func label(of topic: String) -> String {
        switch GatewayPushType.implied(by: topic) {
        case .voip: "voip"
        case .complication: "complication"
        default: "app"
        }
    }

    private static func text(of element: DERReader.Element, in bytes: [UInt8]) -> String? {
        guard element.tag == DERReader.Tag.utf8String || element.tag == DERReader.Tag.ia5String,
            (1...PushRules.topicLimit).contains(element.content.count)
        else { return nil }
        return String(validating: bytes[element.content], as: UTF8.self)
    }

    /// Writes an element. Its content must be shorter than 16 MiB: the length has three bytes at most.
    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        if count < 0x80 { return [tag, UInt8(count)] + content }
        if count < 0x100 { return [tag, 0x81, UInt8(count)] + content }
        let length = [count >> 16, count >> 8, count].map { UInt8(truncatingIfNeeded: $0) }
        return (count < 0x10000 ? [tag, 0x82] + length.dropFirst() : [tag, 0x83] + length) + content
    }
}
