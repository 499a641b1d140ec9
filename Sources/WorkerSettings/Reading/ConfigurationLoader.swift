import Glibc
import PushModel

/// Reads the configuration. The environment wins over the file, and the file wins over the defaults.
package enum ConfigurationLoader {
    /// What a caller needs of a configuration.
    package enum Need: Sendable {
        /// A route that can push.
        case route
        /// The broker and the routes. Whether the files of credentials can be used does not matter.
        case broker
    }

    /// Reads and checks everything, and reports all problems at once.
    ///
    /// A credential stops only its own routes if its files cannot be used or are not for them. Loading fails for this
    /// reason only if no route is left, and a route is needed.
    ///
    /// - Parameters:
    ///   - file: The path of the YAML file; nil to use the environment alone.
    ///   - environment: The process's environment.
    ///   - need: What the caller needs.
    ///   - instanceName: Makes the name of a worker whose `instance` is empty.
    /// - Returns: The configuration, or every problem found.
    package static func load(
        file: String?, environment: [String: String], need: Need = .route,
        instanceName: () -> String = generatedInstanceName
    ) -> Result<WorkerConfiguration, ConfigurationErrors> {
        let problems = ConfigurationProblems()
        guard var root = readFile(file, problems) else { return .failure(ConfigurationErrors(problems.errors)) }
        if !root.isNull, case .mapping = root.content {
        } else if !root.isNull {
            problems.add(root.origin, "expected a mapping of settings, found \(root.shape)")
            return .failure(ConfigurationErrors(problems.errors))
        }
        EnvironmentOverlay(environment: environment, problems: problems).apply(to: &root)
        ShapeCheck(problems: problems).check(root)
        let reader = SettingReader(node: root, path: "", problems: problems)
        let builder = ConfigurationBuilder(
            directory: TextFile.directory(of: file ?? ""), problems: problems, environment: environment)
        let configuration = builder.configuration(reader, instanceName: instanceName)
        // One app's files must not keep the other routes from starting. Without any usable route, the person at the
        // terminal gets the errors.
        let hasRoute = configuration.routes.contains {
            !problems.unusableCredentials.contains($0.credential) && !problems.unservedRoutes.contains($0.name)
        }
        guard problems.areOnlyCredentials, hasRoute || need == .broker else {
            return .failure(ConfigurationErrors(problems.errors))
        }
        return .success(configuration)
    }

    /// Whether a configuration file says itself where the broker is.
    ///
    /// - Parameter file: The file's path.
    /// - Returns: Also true for everything but a regular file, such as a pipe, which can be read only once, or a
    ///   missing file. False for a regular file that cannot be read.
    package static func saysWhereTheBrokerIs(_ file: String) -> Bool {
        guard isRegular(file) else { return true }
        return readFile(file, ConfigurationProblems())?["broker"]?["uri"].map { !$0.isNull } ?? false
    }

    /// The settings of a configuration file that belong to its broker, beside the address: the login, what is trusted,
    /// and the management API.
    ///
    /// - Parameters:
    ///   - file: The file's path.
    ///   - environment: The process's environment. A setting that a variable replaces does not count.
    /// - Returns: Each setting, such as `broker.password_file`, and where it stands. Empty for everything but a regular
    ///   file, and for a file that cannot be read.
    package static func settingsOfOneBroker(
        in file: String, environment: [String: String]
    ) -> [(name: String, origin: ConfigurationOrigin)] {
        guard isRegular(file), let root = readFile(file, ConfigurationProblems()) else { return [] }
        let keys = WorkerKeys.all.broker
        let names = [
            keys.passwordFile.facts.path, keys.allowPlaintext.facts.path, keys.management.facts.path,
            keys.caFile.facts.path, keys.certFile.facts.path, keys.keyFile.facts.path,
        ]
        let replaced = Set(variables(in: environment))
        return ConfigurationSchema.variables.compactMap { variable in
            let isReplaced = [variable.name, variable.fileName].contains { $0.map(replaced.contains) ?? false }
            guard names.contains(variable.path), !isReplaced else { return nil }
            let steps = variable.path.split(separator: ".")
            guard let node = steps.reduce(Optional(root), { node, key in node?[String(key)] }), !node.isNull else {
                return nil
            }
            // The default allows nothing.
            if case .scalar("false", _) = node.content, variable.path == keys.allowPlaintext.facts.path { return nil }
            return (name: variable.path, origin: node.origin)
        }
    }

    private static func isRegular(_ file: String) -> Bool {
        var status = stat()
        return stat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// The names of the variables in the environment that win over the file; empty variables do not count.
    package static func variables(in environment: [String: String]) -> [String] {
        ConfigurationSchema.variables.flatMap { [$0.name, $0.fileName].compactMap(\.self) }
            .filter { environment[$0]?.isEmpty == false }
    }

    /// The host's name, or `worker` if it is unknown, and four random hexadecimal digits.
    package static func generatedInstanceName() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        let isKnown = gethostname(&buffer, buffer.count - 1) == 0 && buffer[0] != 0
        let host =
            isKnown
            ? String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : "worker"
        let digits = String(UInt16.random(in: 0...UInt16.max), radix: 16)
        return "\(host)-\(String(repeating: "0", count: 4 - digits.count))\(digits)"
    }

    private static func readFile(_ file: String?, _ problems: ConfigurationProblems) -> ConfigurationNode? {
        guard let file else { return ConfigurationNode(content: .null, origin: .defaults) }
        let bytes: ArraySlice<UInt8>
        do {
            // A shell may put a pipe here.
            bytes = try TextFile.textBytes(at: file, mayBePipe: true)
        } catch {
            problems.add(.file(file, line: 1, column: 1), "cannot read the configuration: \(error.reason)")
            return nil
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            problems.add(.file(file, line: 1, column: 1), "the file is not UTF-8 text")
            return nil
        }
        let (root, errors) = ConfigurationYAML.read(text) { .file(file, line: $0, column: $1) }
        problems.add(errors)
        return root
    }
}
