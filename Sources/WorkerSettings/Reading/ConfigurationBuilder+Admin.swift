/// How the `admin` section is read.
extension ConfigurationBuilder {
    /// Where the server listens. An address that other machines can reach is refused without `admin.token_file`.
    func adminListen(_ root: SettingReader) -> ListenAddress? {
        // An absent key has a default address. Only a null that somebody wrote switches the server off.
        if root.isNull(keys.adminListen) { return nil }
        let address = root.value(keys.adminListen)
        if !address.isLoopback, !root.isPresent(keys.adminTokenFile) {
            root.reject(
                keys.adminListen,
                "other machines can reach \(address): set admin.token_file, or listen on 127.0.0.1")
        }
        return address
    }

    /// The file with the server's token. The file must exist, and its first line must be long enough.
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
