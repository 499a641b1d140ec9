import EventLoop
import FoundationEssentials
import Glibc

/// The file that keeps what waits for devices and what happened to it: one line of JSON per change, appended.
///
/// Appended in one call, a batch of lines survives the death of the process as soon as the call returns. A value
/// without lock; whoever owns it writes from one thread at a time.
struct NotificationJournal {
    /// The name of the file.
    static let name = "notifications.jsonl"
    /// The largest file that is read or written, in bytes.
    static let fileLimit = 1 << 30
    /// From which size on the file is written anew, in bytes, unless most of it is still true.
    static let usualSize = 64 << 20

    /// Whether the file has everything; where not, it has to be written anew.
    private(set) var isWhole = true
    /// When it should be written anew at the earliest, unless something cannot wait for that.
    var retryAt = MonotonicTime(nanoseconds: 0)

    private let directory: StateDirectory
    private let limit: Int
    private var size = 0
    private var sizeWhenNew = 0

    /// Prepares for a state directory; nothing is read or written yet.
    ///
    /// - Parameters:
    ///   - directory: The simulator's state directory.
    ///   - limit: The largest file that is read or written, in bytes.
    init(in directory: StateDirectory, limit: Int = Self.fileLimit) {
        self.directory = directory
        self.limit = limit
    }

    /// Whether the file has grown so that writing it anew is worth the effort: half way to its limit at the latest.
    var isLarge: Bool { size > min(max(Self.usualSize, 2 * sizeWhenNew), (sizeWhenNew + limit) / 2) }

    /// Reads the file. A last line that was not written to its end is cut off.
    ///
    /// - Returns: What the lines say.
    /// - Throws: ``SimulatorError`` where the file cannot be read or understood.
    mutating func load() throws(SimulatorError) -> KeptNotifications {
        guard let bytes = try directory.read(Self.name, limit: limit) else { return KeptNotifications() }
        var kept = KeptNotifications()
        size = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        var number = 0
        for line in bytes[..<size].split(separator: UInt8(ascii: "\n")) {
            number += 1
            guard let content = try? JSONDecoder().decode(JournalLine.self, from: Data(line)), kept.take(content)
            else {
                throw SimulatorError(
                    .file, "\(path) is damaged in line \(number); move it away to start without what it keeps")
            }
        }
        guard size == bytes.count || truncate(path, size) == 0 else {
            throw SimulatorError(.file, "cannot write \(path)")
        }
        return kept
    }

    /// Appends lines: all of them or none.
    ///
    /// - Parameter lines: The lines, each with its end.
    /// - Throws: ``SimulatorError`` where they cannot be written.
    mutating func append(_ lines: [UInt8]) throws(SimulatorError) {
        guard !lines.isEmpty else { return }
        guard size + lines.count <= limit else {
            isWhole = false
            throw SimulatorError(.file, "\(path) has grown to its limit of \(limit) bytes")
        }
        // Opened each time: a directory that is taken away and brought back then needs no restart.
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SimulatorError(.file, "cannot write \(path)") }
        defer { close(file) }
        guard lseek(file, 0, SEEK_END) == size else {
            isWhole = false
            throw SimulatorError(.file, "\(path) was changed by another program")
        }
        guard lines.withUnsafeBytes({ write(file, $0.baseAddress, $0.count) }) == lines.count else {
            if ftruncate(file, off_t(size)) != 0 { isWhole = false }
            throw SimulatorError(.file, "cannot write all of \(path); is the disk full?")
        }
        size += lines.count
    }

    /// Replaces the file.
    ///
    /// - Parameter lines: Everything that is to be kept.
    /// - Throws: ``SimulatorError`` where it cannot be written; the old file then stays.
    mutating func replace(with lines: [UInt8]) throws(SimulatorError) {
        try directory.write(lines, to: Self.name, isSecret: true, limit: limit)
        (size, sizeWhenNew, isWhole) = (lines.count, lines.count, true)
    }

    /// Lets the file grow, as it cannot be replaced at present.
    mutating func postponeReplacement() { sizeWhenNew = size }

    /// Notes that lines were lost, so that the file has to be written anew.
    mutating func lost() { isWhole = false }

    private var path: String { directory.file(Self.name) }
}

/// A line of the journal: a notification, its place at a device, or an event of the delivery log.
struct JournalLine: Decodable {
    /// A notification; later lines name it by its ``StoredNotification/uniqueID``.
    var notification: StoredNotification?
    /// The notification that waits for ``device`` from now on.
    var keep: MessageID?
    /// What happened to ``unique`` at ``device``.
    var event: DeliveryState?
    /// The notification of an event.
    var unique: MessageID?
    /// The device.
    var device: MessageID?
    /// When it happened, in milliseconds since 1970.
    var time: Int64?
    /// The identifier answered, in the first event of a notification.
    var id: MessageID?
    /// The topic, in the first event of a notification.
    var topic: String?
    /// Milliseconds since 1970 at which the notification was accepted, in its first event.
    var accepted: Int64?

    /// Writes a notification.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - output: Receives the line.
    static func append(_ notification: StoredNotification, to output: inout [UInt8]) {
        // Numbers, strings and bytes are always encodable.
        guard let json = try? JSONEncoder().encode(notification) else { return }
        output.append(contentsOf: "{\"notification\":".utf8)
        output.append(contentsOf: json)
        output.append(contentsOf: "}\n".utf8)
    }

    /// Writes that a notification waits for a device.
    ///
    /// - Parameters:
    ///   - uniqueID: The notification, written before.
    ///   - device: The device.
    ///   - output: Receives the line.
    static func append(keeping uniqueID: MessageID, for device: DeviceID, to output: inout [UInt8]) {
        output.append(contentsOf: "{\"keep\":\"".utf8)
        uniqueID.append(to: &output)
        output.append(contentsOf: "\",\"device\":\"".utf8)
        device.value.append(to: &output)
        output.append(contentsOf: "\"}\n".utf8)
    }

    /// Writes an event.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - uniqueID: The notification it happened to.
    ///   - entry: The story it begins; nil where it is not the first event.
    ///   - output: Receives the line.
    static func append(
        _ event: DeliveryLog.Event, of uniqueID: MessageID, beginning entry: DeliveryLog.Entry?,
        to output: inout [UInt8]
    ) {
        // Neither states nor topics need escapes; the clients' part of the latter went through the rules for topics.
        output.append(contentsOf: "{\"event\":\"\(event.state.rawValue)\",\"unique\":\"".utf8)
        uniqueID.append(to: &output)
        output.append(contentsOf: "\",\"device\":\"".utf8)
        event.device.value.append(to: &output)
        output.append(contentsOf: "\",\"time\":\(event.time)".utf8)
        if let entry {
            output.append(contentsOf: ",\"id\":\"".utf8)
            entry.id.append(to: &output)
            output.append(contentsOf: "\",\"topic\":\"".utf8)
            JSONEscaping.append(entry.topic.utf8, to: &output)
            output.append(contentsOf: "\",\"accepted\":\(entry.acceptedAt)".utf8)
        }
        output.append(contentsOf: "}\n".utf8)
    }
}

/// What a journal keeps.
struct KeptNotifications {
    /// What happened to notifications.
    private(set) var log = DeliveryLog()
    private var contents: [MessageID: StoredNotification] = [:]
    private var kept: [DeviceID: [MessageID]] = [:]

    /// Starts with nothing.
    init() {}

    /// What waits for each device, oldest first.
    var waiting: [DeviceID: [StoredNotification]] {
        kept.mapValues { $0.compactMap { contents[$0] } }.filter { !$0.value.isEmpty }
    }

    /// Obeys a line.
    ///
    /// - Parameter line: The line.
    /// - Returns: Whether it makes sense.
    mutating func take(_ line: JournalLine) -> Bool {
        if let notification = line.notification {
            contents[notification.uniqueID] = notification
            return true
        }
        guard let device = line.device.map({ DeviceID($0) }) else { return false }
        if let uniqueID = line.keep {
            guard let content = contents[uniqueID] else { return false }
            kept[device, default: []].append(uniqueID)
            // A crash may have come between the keeping and its event.
            if log.entry(uniqueID) == nil {
                log.record(.received, of: content, for: device, now: content.acceptedAt)
            }
            return true
        }
        guard let state = line.event, let uniqueID = line.unique, let time = line.time else { return false }
        if state.isFinal { kept[device]?.removeAll { $0 == uniqueID } }
        let event = DeliveryLog.Event(state: state, device: device, time: time)
        if let id = line.id, let topic = line.topic, let accepted = line.accepted {
            log.begin(uniqueID, DeliveryLog.Entry(id: id, topic: topic, acceptedAt: accepted, events: [event]))
        } else {
            log.add(event, to: uniqueID)
        }
        return true
    }
}
