/// How the `admin` section is read.
extension ConfigurationBuilder {
    /// Where the server listens: beyond this machine only with a token.
    func adminListen(_ root: SettingReader) -> ListenAddress? {
        // Null switches the server off, which only a key that is there can say.
        if root.isNull(keys.adminListen) { return nil }
        let address = root.value(keys.adminListen)
        if !address.isLoopback, !root.isPresent(keys.adminTokenFile) {
            root.reject(
                keys.adminListen,
                "other machines can reach \(address): set admin.token_file, or listen on 127.0.0.1")
        }
        return address
    }

    /// The file with the server's token, which must hold a long one already.
    func adminToken(_ root: SettingReader) -> String? {
        guard let path = file(keys.adminTokenFile, of: root) else { return nil }
        let problem: String?
        do throws(TextFile.Failure) {
            let isLong = try TextFile.firstLine(of: path).utf8.count >= WorkerConfiguration.shortestAdminToken
            problem =
                isLong ? nil : "its first line has fewer than \(WorkerConfiguration.shortestAdminToken) characters"
        } catch {
            problem = error.reason
        }
        guard let problem else { return path }
        root.reject(keys.adminTokenFile, "cannot use \(path): \(problem)")
        return nil
    }
}
