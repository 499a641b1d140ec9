import HTTP2

@testable import APNSSimulator

/// Makes a request that breaks no rule, and lets a test break one.
struct RequestBuilder: Sendable {
    static let token = String(repeating: "a1b2c3d4", count: 8)

    var headers: [(String, String)] = [
        (":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(token)"), ("host", "localhost"),
        ("authorization", "bearer x"), ("apns-topic", "com.example.app"), ("apns-push-type", "alert"),
    ]
    var payload = Array(#"{"aps":{"alert":"hello"}}"#.utf8)

    func with(_ name: String, _ value: String?) -> RequestBuilder {
        var changed = self
        // In its place, as pseudo headers must come before all others.
        let place = headers.firstIndex { $0.0 == name } ?? headers.count
        changed.headers.removeAll { $0.0 == name }
        if let value { changed.headers.insert((name, value), at: place) }
        return changed
    }

    func adding(_ name: String, _ value: String) -> RequestBuilder {
        var changed = self
        changed.headers.append((name, value))
        return changed
    }

    func payload(_ text: String) -> RequestBuilder {
        var changed = self
        changed.payload = Array(text.utf8)
        return changed
    }

    func token(_ token: String) -> RequestBuilder { with(":path", "/3/device/\(token)") }

    func type(_ type: String?, topic: String) -> RequestBuilder {
        with("apns-push-type", type).with("apns-topic", topic)
    }

    var request: PushRequest {
        let fields = headers.map { (name: Array($0.0.utf8), value: Array($0.1.utf8)) }
        return PushRequest(HTTP2Request(streamID: 1, headers: fields, body: payload))
    }
}

/// A JSON object of exactly so many bytes.
func payload(bytes: Int) -> String { "{\"k\":\"" + String(repeating: "x", count: bytes - 8) + "\"}" }
