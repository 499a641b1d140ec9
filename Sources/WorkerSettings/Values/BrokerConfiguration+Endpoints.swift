import PushModel
package import RabbitMQ

extension BrokerConfiguration {
    /// Where the brokers are and how to log in to them now.
    ///
    /// Files with addresses or the password are read at each call. Each connection reads the certificates. So a changed
    /// file counts from the next connection on, without a restart.
    ///
    /// - Returns: At least one endpoint.
    /// - Throws: `invalidURI` that names the file or the address that cannot be used, and never a part of a secret.
    package func endpoints() throws(AMQPError) -> [AMQPEndpoint] {
        let uris = if let uriFile { try Self.addresses(in: uriFile) } else { uris }
        let password = try password()
        var supplements: AMQPEndpoint.Supplements = []
        if password != nil { supplements.insert(.password) }
        if tls.certFile != nil { supplements.insert(.certificate) }
        var endpoints: [AMQPEndpoint] = []
        for uri in uris {
            var endpoint = try AMQPEndpoint.parse(uri: uri.revealed, supplementedBy: supplements)
            guard allowsPlaintext || !endpoint.isExposed else {
                throw AMQPError(.invalidURI, PlaintextRule.message(host: endpoint.host, secure: "amqps://"))
            }
            endpoint.password = password ?? endpoint.password
            // A heartbeat in the URI wins. A parsed endpoint does not show whether its heartbeat is the default or was
            // written.
            if !Self.namesHeartbeat(uri.revealed) { endpoint.heartbeat = Int(heartbeat.components.seconds) }
            endpoint.tls.caFile = endpoint.tls.caFile ?? tls.caFile
            endpoint.tls.certFile = endpoint.tls.certFile ?? tls.certFile
            endpoint.tls.keyFile = endpoint.tls.keyFile ?? tls.keyFile
            endpoints.append(endpoint)
        }
        if let mistake = AMQPEndpoint.mistake(among: endpoints) { throw AMQPError(.invalidURI, mistake) }
        return endpoints
    }

    /// Whether a URI has the parameter; a user or password of that name does not count.
    private static func namesHeartbeat(_ uri: String) -> Bool {
        uri.drop { $0 != "?" }.dropFirst().split(separator: "&").contains { $0.hasPrefix("heartbeat=") }
    }

    private func password() throws(AMQPError) -> String? {
        guard let passwordFile else { return nil }
        do throws(TextFile.Failure) {
            return try TextFile.firstLine(of: passwordFile)
        } catch {
            throw AMQPError(.invalidURI, "the password file \(passwordFile) cannot be used: \(error.reason)")
        }
    }
}
