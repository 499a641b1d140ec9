import LocalStack
import WorkerSettings

extension WorkerConfiguration {
    /// A configuration from its text. The file `key.p8` beside it has no key.
    init(yaml: String) throws {
        let directory = try TemporaryDirectory(prefix: "martlet-configuration")
        defer { directory.remove() }
        try directory.write("key", to: "key.p8")
        let file = try directory.write(yaml, to: "martlet.yaml")
        self = try ConfigurationLoader.load(file: file, environment: [:]).get()
    }
}
