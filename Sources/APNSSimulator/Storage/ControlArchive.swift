import FoundationEssentials
import Logging
import Synchronization

/// Keeps ``KeptControl`` as a file. Safe from any thread.
final class ControlArchive: Sendable {
    /// The largest file that is read or written, in bytes.
    static let fileLimit = 16 << 20

    private static let name = "control.json"

    private let directory: StateDirectory
    private let health: StorageHealth
    private let logger: Logger
    private let writing = Mutex(())

    /// Opens the archive.
    ///
    /// - Parameters:
    ///   - directory: The simulator's state directory.
    ///   - health: Is told whether the file can be written.
    ///   - logger: Tells of a file that cannot be written.
    init(in directory: StateDirectory, health: StorageHealth, logger: Logger) {
        self.directory = directory
        self.health = health
        self.logger = logger
    }

    /// Reads what was kept.
    ///
    /// - Returns: The content; the defaults where nothing was kept.
    /// - Throws: ``SimulatorError`` where the file cannot be read or understood.
    func load() throws(SimulatorError) -> KeptControl {
        guard let bytes = try directory.read(Self.name, limit: Self.fileLimit) else { return KeptControl() }
        do {
            return try JSONDecoder().decode(KeptControl.self, from: Data(bytes))
        } catch {
            throw SimulatorError(
                .file, "\(directory.file(Self.name)) is damaged; move it away to start without it: \(error)")
        }
    }

    /// Writes what is to be kept. After a failure the simulator runs on as before; the failure is logged and noted in
    /// ``StorageHealth``.
    ///
    /// - Parameter content: Reads the present content. It is called under the lock of the file, so that the last of
    ///   several writers writes the latest content.
    func save(_ content: () -> KeptControl) {
        writing.withLock { _ in
            do throws(SimulatorError) {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                // Numbers and strings are always encodable.
                let data = (try? encoder.encode(content())) ?? Data()
                try directory.write([UInt8](data), to: Self.name, isSecret: true, limit: Self.fileLimit)
                health.note(Self.name, nil)
            } catch {
                health.note(Self.name, error)
                logger.error("cannot keep clock and revocations", metadata: .simulator([.error: "\(error)"]))
            }
        }
    }
}
