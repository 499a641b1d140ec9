import APNSClient
import PushModel

extension SettingKind where Value == String {
    /// The address of an APNs: `https://host` or `https://host:port`, with nothing after it but `/`.
    static var apnsAddress: SettingKind {
        SettingKind("address", "`https://host:port`") { (text: String) throws(Rejection) -> String in
            let address = try AddressText(text)
            guard address.scheme == "https" else { throw Rejection("must begin with https://") }
            guard address.userInfo == nil else { throw Rejection("must not carry a user or password") }
            guard address.rest.isEmpty || address.rest == "/" else {
                throw Rejection("nothing may follow the host and port")
            }
            guard address.port != 0 else { throw Rejection("port 0 cannot be reached") }
            return "https://\(address.bracketedHost):\(address.port ?? 443)"
        }
    }
}

extension SettingKind where Value == String {
    /// The address of a collector of traces, as `OTEL_EXPORTER_OTLP_ENDPOINT` has it: the path for spans is added.
    static var collectorAddress: SettingKind {
        SettingKind("address", "`http(s)://host:port`, with a path where it needs one") {
            (text: String) throws(Rejection) -> String in
            let address = try AddressText(text)
            guard ["http", "https"].contains(address.scheme) else {
                throw Rejection("must begin with http:// or https://")
            }
            guard address.userInfo == nil else { throw Rejection("must not carry a user or password") }
            guard !address.rest.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
                throw Rejection("must not have a query or a fragment")
            }
            var path = address.rest[...]
            while path.hasSuffix("/") { path.removeLast() }
            guard !path.hasSuffix("/v1/traces") else { throw Rejection("leave /v1/traces out: it is added") }
            guard address.port != 0 else { throw Rejection("port 0 cannot be reached") }
            let port = address.port ?? (address.scheme == "https" ? 443 : 80)
            return "\(address.scheme)://\(address.bracketedHost):\(port)\(path)"
        }
    }
}

extension SettingKind where Value == SecretText {
    /// Text that may hold a password.
    ///
    /// - Parameters:
    ///   - form: What is written, in words.
    ///   - parse: Checks the text. Without it, the builder of the section checks the text, because the check needs
    ///     other settings.
    static func secret(
        _ form: String, parse: @escaping @Sendable (String) throws(Rejection) -> SecretText = { SecretText($0) }
    ) -> SettingKind {
        var kind = SettingKind("secret text", form, write: { $0.revealed }, parse: parse)
        kind.form.isSecret = true
        return kind
    }

    /// The address of an HTTP proxy.
    static var proxyAddress: SettingKind { secret("`http://[user:password@]host:port`", parse: proxy) }

    /// Reads the address of an HTTP proxy as the connection will read it.
    @Sendable static func proxy(_ text: String) throws(Rejection) -> SecretText {
        do throws(APNSClientError) {
            _ = try HTTPProxy.parse(text)
        } catch {
            throw Rejection(error.message)
        }
        return SecretText(text)
    }
}

extension SettingKind where Value == ListenAddress {
    /// `host:port`, with an IPv6 address in brackets.
    static var listenAddress: SettingKind {
        SettingKind("text or `null`", "`host:port`; port 0 for any free one; `null` switches it off") {
            (text: String) throws(Rejection) -> ListenAddress in
            let (host, port) = try AddressText.splitHost(text[...])
            guard let port else { throw Rejection("the port is missing: write host:port, as in 127.0.0.1:9464") }
            return ListenAddress(host: host, port: port)
        }
    }
}
