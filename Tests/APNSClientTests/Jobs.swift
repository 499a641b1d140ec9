import EventLoop
import PushModel
import TestSupport

@testable import APNSClient

/// Builds jobs.
enum Jobs {
    static let token = "a1b2c3d4e5f60718a1b2c3d4e5f60718a1b2c3d4e5f60718a1b2c3d4e5f60718"

    /// A job as the queue would bring it.
    static func make(
        token: String = token, payload: String = #"{"aps":{"alert":"hello"}}"#, topic: String = "com.example.app",
        _ fields: String = ""
    ) throws -> Job {
        let text = #"{"device_token":"\#(token)","payload":\#(payload)\#(fields.isEmpty ? "" : "," + fields)}"#
        let key = "production.normal.\(topic)".utf8
        var bytes = Array(key) + Array("application/json".utf8)
        let body = bytes.count..<(bytes.count + text.utf8.count)
        bytes += Array(text.utf8)
        let type = key.count..<(key.count + 16)
        let message = JobMessage(bytes: bytes, routingKey: 0..<key.count, contentType: type, body: body)
        return try JobDecoder().decode(message, now: 1_763_712_800_100, random: { 0x1234_5678_9ABC_DEF0 }).get()
    }

    /// A job whose payload has a given length.
    static func make(payloadLength: Int) throws -> Job {
        let frame = #"{"aps":{"alert":""}}"#
        let filling = String(repeating: "x", count: payloadLength - frame.utf8.count)
        return try make(payload: #"{"aps":{"alert":"\#(filling)"}}"#)
    }
}
