import HTTP2

/// What came back for one request.
struct RawAnswer: Sendable {
    var status = 0
    var headers: [String: String] = [:]
    var body = ""
    var closure: StreamClosure?

    /// The reason in the body, empty where there is none.
    var reason: String {
        body.split(separator: "\"").dropFirst(3).first.map(String.init) ?? ""
    }
}
