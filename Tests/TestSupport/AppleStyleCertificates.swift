package import LocalStack

/// Push certificates in Apple's form, made by openssl(1) and not by code of this project.
package struct AppleStyleCertificates: Sendable {
    /// What openssl(1) said when it failed.
    package struct CommandFailed: Error {
        /// Its words.
        package let output: String
    }

    /// What a certificate shall say.
    package struct Content: Sendable {
        /// The subject's user identifier; nil for none.
        package var userID: String? = "com.example.app"
        /// The topics and their labels; nil for a certificate without the list.
        package var topics: [(name: String, kinds: [String])]? = [
            ("com.example.app", ["app"]), ("com.example.app.voip", ["voip"]),
            ("com.example.app.complication", ["complication"]),
        ]
        /// Whether it is for development.
        package var isForDevelopment = true
        /// Whether it is for production.
        package var isForProduction = true
        /// Lines of x509v3_config(5) instead of the extensions above.
        package var extensions: String?
        /// The beginning of its validity as openssl(1) wants it, `YYYYMMDDHHMMSSZ`; nil for now.
        package var notBefore: String?
        /// The end of its validity; nil for 300 days from now.
        package var notAfter: String?

        /// The content of an ordinary certificate.
        package init() {}
    }

    /// Where the files are.
    package let directory: TemporaryDirectory
    /// The authority's certificate.
    package var authorityFile: String { directory.file("ca.pem") }

    /// Makes an authority.
    ///
    /// - Throws: What openssl(1) said when it failed.
    package init() throws {
        directory = try TemporaryDirectory(prefix: "martlet-apple")
        _ = try directory.write("", to: "index.txt")
        try openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3650",
            "-subj", "/CN=Worldwide Developer Relations of nobody", "-keyout", directory.file("ca.key"), "-out",
            authorityFile)
    }

    /// Runs openssl(1).
    ///
    /// - Parameter arguments: Its arguments.
    /// - Returns: What it printed.
    /// - Throws: What it said when it failed.
    @discardableResult
    package func openssl(_ arguments: String...) throws -> String {
        let outcome = try ChildProcess.run("/usr/bin/openssl", arguments)
        guard outcome.status == 0 else { throw CommandFailed(output: outcome.errorText) }
        return outcome.text
    }

    /// Issues a certificate: `<name>.pem` and `<name>.key` in the directory.
    ///
    /// - Parameters:
    ///   - name: The files' name.
    ///   - content: The contents.
    /// - Returns: The two paths.
    /// - Throws: What openssl(1) said when it failed.
    @discardableResult
    package func issue(
        _ name: String, _ content: Content = Content()
    ) throws -> (certificateFile: String, keyFile: String) {
        let (certificate, key) = (directory.file("\(name).pem"), directory.file("\(name).key"))
        let configuration = try directory.write(Self.configuration(content, in: directory.path), to: "\(name).cnf")
        let user = content.userID.map { "/UID=\($0)" } ?? ""
        let request = directory.file("\(name).csr")
        try openssl(
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-utf8", "-config",
            configuration, "-subj", "\(user)/CN=Apple Push Services: \(name)", "-keyout", key, "-out", request)
        var arguments = [
            "ca", "-batch", "-notext", "-config", configuration, "-in", request, "-out", certificate, "-extensions",
            "push",
        ]
        if let notBefore = content.notBefore { arguments += ["-startdate", notBefore] }
        arguments += content.notAfter.map { ["-enddate", $0] } ?? ["-days", "300"]
        let outcome = try ChildProcess.run("/usr/bin/openssl", arguments)
        guard outcome.status == 0 else { throw CommandFailed(output: outcome.errorText) }
        return (certificate, key)
    }

    /// Packs a certificate as `<name>.p12`.
    ///
    /// - Parameters:
    ///   - name: What `issue` was told.
    ///   - password: What protects the file.
    ///   - options: More arguments of `openssl pkcs12`, such as `-legacy`.
    /// - Returns: The path.
    /// - Throws: What openssl(1) said when it failed.
    package func pack(_ name: String, password: String, _ options: [String] = []) throws -> String {
        let file = directory.file("\(name).p12")
        let arguments =
            [
                "pkcs12", "-export", "-in", directory.file("\(name).pem"), "-inkey", directory.file("\(name).key"),
                "-passout", "pass:\(password)", "-out", file,
            ] + options
        let outcome = try ChildProcess.run("/usr/bin/openssl", arguments)
        guard outcome.status == 0 else { throw CommandFailed(output: outcome.errorText) }
        return file
    }

    private static func configuration(_ content: Content, in directory: String) -> String {
        var lines = content.extensions ?? ""
        if content.extensions == nil {
            lines += "extendedKeyUsage = clientAuth\n"
            if content.isForDevelopment { lines += "1.2.840.113635.100.6.3.1 = ASN1:NULL\n" }
            if content.isForProduction { lines += "1.2.840.113635.100.6.3.2 = ASN1:NULL\n" }
            if content.topics != nil { lines += "1.2.840.113635.100.6.3.6 = ASN1:SEQUENCE:topics\n" }
        }
        lines += "\n[topics]\n"
        for (index, topic) in (content.topics ?? []).enumerated() {
            lines += "name\(index) = UTF8:\(topic.name)\nkinds\(index) = SEQUENCE:kinds\(index)\n"
        }
        for (index, topic) in (content.topics ?? []).enumerated() {
            lines += "\n[kinds\(index)]\n"
            for (number, kind) in topic.kinds.enumerated() { lines += "kind\(number) = UTF8:\(kind)\n" }
        }
        return """
            [req]
            distinguished_name = name
            [name]
            [ca]
            default_ca = authority
            [authority]
            certificate = \(directory)/ca.pem
            private_key = \(directory)/ca.key
            new_certs_dir = \(directory)
            database = \(directory)/index.txt
            unique_subject = no
            rand_serial = yes
            default_md = sha256
            policy = anything
            preserve = yes
            [anything]
            userId = optional
            commonName = optional
            [push]
            \(lines)
            """
    }
}
