import APNSClient
import PushModel
package import TLS
import WorkerSettings

/// The content of a credential's files at a moment.
struct CredentialMaterial: Sendable {
    private enum Content: Sendable {
        case token(ES256PrivateKey, keyID: String, teamID: String)
        case certificate(CertificateIdentity, CertificateFacts)
    }

    private let content: Content
    /// Equal for equal content, different for any other. Not a secret.
    let fingerprint: String
    /// What to call it in logs: identifiers and dates.
    let label: String
    /// What the certificate says; nil for a key.
    var facts: CertificateFacts? {
        if case .certificate(_, let facts) = content { return facts }
        return nil
    }

    /// Reads the files of a credential.
    ///
    /// - Throws: `TLSError` when a file cannot be read or used; the message names it.
    init(reading configuration: CredentialConfiguration) throws(TLSError) {
        switch configuration {
        case .token(let token):
            let key = try ES256PrivateKey(file: token.keyFile)
            content = .token(key, keyID: token.keyID, teamID: token.teamID)
            let publicKey = String(decoding: key.publicKey.pem, as: UTF8.self)
            fingerprint = "\(token.teamID) \(token.keyID) \(publicKey)"
            label = "key \(token.keyID) of team \(token.teamID)"
        case .certificate(let certificate):
            let identity = try certificate.identity()
            let facts = try identity.facts()
            content = .certificate(identity, facts)
            fingerprint = facts.fingerprint
            label = "certificate \(facts.serialNumber), valid until \(facts.lastMoment)"
        }
    }

    /// The material as a version of a credential, ready for connections.
    ///
    /// - Parameters:
    ///   - name: The credential's name.
    ///   - version: The version.
    ///   - trust: The roots of trust for APNs' certificates.
    ///   - standIn: Signs in place of the key; nil outside of simulations.
    /// - Throws: `TLSError` when the identity cannot be used for TLS.
    func credential(name: String, version: Int, trust: TrustRoots, standIn: ProviderTokenSource.Signature?)
        throws(TLSError) -> APNSCredential
    {
        let protocols = ["h2"]
        switch content {
        case .token(let key, let keyID, let teamID):
            return APNSCredential(
                name: name, version: version, label: label,
                context: try .client(trust: trust, identity: nil, applicationProtocols: protocols),
                tokens: standIn.map { ProviderTokenSource(keyID: keyID, teamID: teamID, signature: $0) }
                    ?? ProviderTokenSource(keyID: keyID, teamID: teamID, key: key))
        case .certificate(let identity, let facts):
            return APNSCredential(
                name: name, version: version, label: label,
                context: try .client(trust: trust, identity: identity, applicationProtocols: protocols),
                validity: facts.notBefore...max(facts.notBefore, facts.notAfter), onlyTopic: facts.onlyTopic,
                certificate: facts)
        }
    }
}

extension CertificateFacts {
    /// The certificate's only topic; nil if it has several topics or none.
    package var onlyTopic: String? { topics.count == 1 ? topics[0].name : nil }

    /// The beginning of the certificate's validity in UTC, as text for people.
    package var firstMoment: String { LogTime(milliseconds: notBefore * 1_000).toTheSecond }

    /// The end of the certificate's validity in UTC, as text for people.
    package var lastMoment: String { LogTime(milliseconds: notAfter * 1_000).toTheSecond }
}
