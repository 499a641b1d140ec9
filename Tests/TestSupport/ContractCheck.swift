import Foundation
package import LocalStack
package import RabbitMQ
import Synchronization

/// Messages to be held against the schemas of `config/contract` by `Tests/Contract/check.py`, which uses a validator
/// that is not ours. What a schema lacks is a problem, too.
package final class ContractCheck: Sendable {
    /// The schemas, by their names there.
    package enum Schema: String, Sendable {
        case job
        case jobLine = "job-line"
        case jobHeaders = "job-headers"
        case rawJobHeaders = "raw-job-headers"
        case result
        case resultBatch = "result-batch"
        case resultHeaders = "result-headers"
        case deadLetterHeaders = "dead-letter-headers"
        case control
    }

    private struct State {
        var lines: [UInt8] = []
        var shapes: Set<String> = []
        var unreadable: [String] = []
    }

    /// Fields whose values are part of a message's shape.
    private static let telling = [
        "outcome", "reason", "status", "action", "duplicate", "x-apns-outcome", "x-apns-reason",
    ]

    private let state = Mutex(State())
    private let takesSamples: Bool

    /// Nothing is noted yet.
    ///
    /// - Parameter takesSamples: Whether one message of each shape is enough, of tens of thousands.
    package init(takesSamples: Bool = false) { self.takesSamples = takesSamples }

    /// Notes a message.
    ///
    /// - Parameters:
    ///   - schema: What it has to obey.
    ///   - json: Its text.
    ///   - about: Names it in problems.
    package func note(_ schema: Schema, json: [UInt8], about: String) {
        if takesSamples {
            let shape = "\(schema) \(Self.shape(of: json))"
            guard state.withLock({ $0.shapes.insert(shape).inserted }) else { return }
        }
        let name = about.map { $0 == "\"" || $0 == "\\" || $0.isNewline ? "'" : $0 }
        let head = "{\"schema\":\"\(schema.rawValue)\",\"about\":\"\(String(name))\",\"instance\":"
        // A line break within JSON is white space.
        let body = json.map { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 }
        state.withLock { $0.lines += Array(head.utf8) + body + Array("}\n".utf8) }
    }

    /// Notes what a delivery carries if it is a result, a reply or a worker's dead letter.
    ///
    /// - Parameter delivery: The delivery.
    package func note(_ delivery: Delivery) {
        let exchange = String(decoding: delivery.bytes[delivery.exchange], as: UTF8.self)
        let about = "\(exchange) \(String(decoding: delivery.bytes[delivery.routingKey], as: UTF8.self))"
        do {
            let headers = try Self.headers(of: delivery)
            let json = [UInt8](try JSONSerialization.data(withJSONObject: headers))
            switch exchange {
            // Of several results only the body tells the attempts.
            case "apns.results" where headers["x-apns-attempt"] == nil,
                "apns.replies" where headers["x-apns-attempt"] == nil:
                note(.resultBatch, json: Array(delivery.bytes[delivery.body]), about: about)
            case "apns.results", "apns.replies":
                note(.result, json: Array(delivery.bytes[delivery.body]), about: about)
                note(.resultHeaders, json: json, about: about)
            // What the broker wrote has none of our headers.
            case "apns.dead" where headers["x-apns-outcome"] != nil: note(.deadLetterHeaders, json: json, about: about)
            default: break
            }
        } catch {
            state.withLock { $0.unreadable.append("\(about): \(error)") }
        }
    }

    /// Notes the headers of a job that a worker took.
    ///
    /// - Parameters:
    ///   - headers: The headers; a void one counts as absent.
    ///   - isRaw: Whether the job is raw, else it is enveloped.
    ///   - about: Names it in problems.
    package func note(jobHeaders headers: FieldTable, isRaw: Bool, about: String) {
        do {
            let object = Self.object(headers).filter { !($0.value is NSNull) }
            let json = [UInt8](try JSONSerialization.data(withJSONObject: object))
            note(isRaw ? .rawJobHeaders : .jobHeaders, json: json, about: about)
        } catch {
            state.withLock { $0.unreadable.append("\(about): \(error)") }
        }
    }

    /// Judges what was noted since the last time, and forgets it.
    ///
    /// - Returns: What is wrong, a line each; empty if nothing is.
    /// - Throws: `LocalStackError` when Python cannot be started or takes too long.
    package func problems() throws(LocalStackError) -> [String] {
        let (input, unreadable) = state.withLock { state in
            defer { (state.lines, state.unreadable) = ([], []) }
            return (state.lines, state.unreadable)
        }
        guard !input.isEmpty else { return unreadable }
        let outcome = try PythonEnvironment.run(Self.script, input: input, timeout: .seconds(60))
        guard outcome.status != 0 else { return unreadable }
        let problems = outcome.text.split(separator: "\n").map(String.init)
        return unreadable + (problems.isEmpty ? ["check.py failed: \(outcome.errorText)"] : problems)
    }

    private static let script = PythonEnvironment.repository + "/Tests/Contract/check.py"

    /// A message's headers as an object.
    private static func headers(of delivery: Delivery) throws -> [String: Any] {
        guard let range = try MessagePropertyReader(delivery.bytes, delivery.properties).headers else { return [:] }
        return object(try FieldTable(reading: range, in: delivery.bytes, maximumSize: 1 << 20))
    }

    /// Headers as an object: a token in bytes as hexadecimal digits, other bytes as the text that they are, tables and
    /// arrays as empty arrays.
    private static func object(_ headers: FieldTable) -> [String: Any] {
        var object: [String: Any] = [:]
        for entry in headers.entries {
            let name = String(decoding: entry.name, as: UTF8.self)
            object[name] =
                switch entry.value {
                case .bytes(let bytes) where name == "apns-device-token":
                    bytes.map { String(format: "%02x", $0) }.joined()
                case .text(let bytes), .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
                case .integer(let number): number
                case .timestamp(let seconds): seconds
                case .void: NSNull()
                default: [Int]()
                }
        }
        return object
    }

    /// The fields of an object and the kinds of their values, with the values that tell of outcomes. All of what cannot
    /// be read.
    private static func shape(of json: [UInt8]) -> String {
        guard let value = try? JSONSerialization.jsonObject(with: Data(json)), let object = value as? [String: Any]
        else {
            return String(decoding: json, as: UTF8.self)
        }
        return object.map { key, value in
            telling.contains(key) ? "\(key)=\(value)" : "\(key):\(value is NSNull ? "null" : "\(type(of: value))")"
        }.sorted().joined(separator: " ")
    }
}
