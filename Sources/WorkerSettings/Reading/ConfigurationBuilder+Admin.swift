/// How the `admin` section is read.
extension ConfigurationBuilder {
    /// Where the server listens: beyond this machine only with a token.
    func admin(_ section: SettingReader) -> ListenAddress? {
        // Null switches the server off, which only a key that is there can say.
        if let value = section.node["listen"], value.isNull { return nil }
        let address = section.value(
            "listen", default: ListenAddress(host: "127.0.0.1", port: 9464), SettingParsers.listenAddress)
        if !address.isLoopback, section.present("token_file") == nil {
            section.reject(
                section.origin(of: "listen"),
                "\(section.name(of: "listen")): other machines can reach \(address): set admin.token_file, or listen on "
                    + "127.0.0.1")
        }
        return address
    }

    /// The file with the server's token, which must hold a long one already.
    func adminToken(_ section: SettingReader) -> String? {
        guard let path = file("token_file", of: section) else { return nil }
        let problem: String?
        do throws(TextFile.Failure) {
            let isLong = try TextFile.firstLine(of: path).utf8.count >= WorkerConfiguration.shortestAdminToken
            problem =
                isLong ? nil : "its first line has fewer than \(WorkerConfiguration.shortestAdminToken) characters"
        } catch {
            problem = error.reason
        }
        guard let problem else { return path }
        section.reject(
            section.origin(of: "token_file"), "\(section.name(of: "token_file")): cannot use \(path): \(problem)")
        return nil
    }
}
