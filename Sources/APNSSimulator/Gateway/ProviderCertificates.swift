package import TLS

/// Issues the certificates that providers show the simulator, in the form of Apple's.
package enum ProviderCertificates {
    /// The longest common name of X.509, in characters.
    private static let commonNameLimit = 64

    /// Issues a certificate.
    ///
    /// - Parameters:
    ///   - request: The certificate's contents.
    ///   - stateDirectory: Where the simulator keeps the authority of provider certificates. The authority is made
    ///     where it is missing.
    /// - Returns: The certificate and its key.
    /// - Throws: ``SimulatorError`` where the request or the directory cannot be used.
    package static func issue(
        _ request: ProviderCertificateRequest, stateDirectory: String
    ) throws(SimulatorError) -> ProviderCertificate {
        try issue(request, by: try CertificateStore.providerAuthority(directory: stateDirectory))
    }

    /// Issues a certificate.
    ///
    /// - Parameters:
    ///   - request: The certificate's contents.
    ///   - authority: The authority that signs the certificate.
    /// - Returns: The certificate and its key.
    /// - Throws: ``SimulatorError`` where the request cannot be met.
    package static func issue(
        _ request: ProviderCertificateRequest, by authority: CertificateAuthority
    ) throws(SimulatorError) -> ProviderCertificate {
        guard let main = request.topics.first, request.topics.count <= PushCertificateExtension.topicLimit,
            request.topics.allSatisfy({ PushRules.isTopic($0.utf8) })
        else {
            throw SimulatorError(
                .configuration,
                "a certificate has 1 to \(PushCertificateExtension.topicLimit) topics, each up to "
                    + "\(PushRules.topicLimit) letters, digits, dots, hyphens and underscores")
        }
        guard (0...ProviderCertificateRequest.dayLimit).contains(request.days) else {
            throw SimulatorError(
                .configuration, "a certificate is good for 0 to \(ProviderCertificateRequest.dayLimit) days")
        }
        let environments = request.environments.isEmpty ? Set(ServiceEnvironment.allCases) : request.environments
        let nothing: [UInt8] = [0x05, 0x00]
        var extensions: [CertificateExtension] = []
        if environments.contains(.development) {
            extensions.append(CertificateExtension(PushCertificateExtension.development, content: nothing))
        }
        if environments.contains(.production) {
            extensions.append(CertificateExtension(PushCertificateExtension.production, content: nothing))
        }
        if request.topics.count > 1 {
            let content = PushCertificateExtension.content(topics: request.topics)
            extensions.append(CertificateExtension(PushCertificateExtension.topics, content: content))
        }
        do {
            let issued = try authority.issue(
                commonName: String("Apple Push Services: \(main)".prefix(commonNameLimit)), names: [],
                days: request.days, client: true, notBeforeOffset: request.startsIn, userID: main,
                extensions: extensions)
            let serial = try PeerCertificate(pem: issued.certificatePEM).serialNumber
            return ProviderCertificate(
                certificatePEM: issued.certificatePEM, keyPEM: issued.keyPEM, serialNumber: serial)
        } catch {
            throw SimulatorError(.credential, "cannot issue a provider certificate: \(error)")
        }
    }
}
