import HTTP2

/// One request as it came. Its headers are found by name, but not judged.
struct PushRequest {
    /// The bytes of all headers, as the HTTP/2 session hands them over.
    private let headerBytes: [UInt8]

    /// The position of each header's value, by ``PushHeader``; of a repeated header, the first value.
    private var values: [Range<Int>?]

    /// Whether a header that APNs looks at came more than once.
    private(set) var hasDuplicates = false

    /// The payload as sent.
    let payload: [UInt8]

    /// Whether the payload was longer than the server keeps.
    let isTruncated: Bool

    /// Finds the headers of a request.
    ///
    /// - Parameter request: The request as received.
    init(_ request: HTTP2Request) {
        headerBytes = request.headerBytes
        values = Array(repeating: nil, count: PushHeader.allCases.count)
        payload = request.body
        isTruncated = request.bodyTruncated
        for field in request.fields {
            guard let header = PushHeader(headerBytes[field.name]) else { continue }
            if values[header.rawValue] == nil {
                values[header.rawValue] = field.value
            } else {
                hasDuplicates = true
            }
        }
    }

    /// The value of a header, or nil where it is absent.
    ///
    /// - Parameter header: Which one.
    subscript(header: PushHeader) -> ArraySlice<UInt8>? { values[header.rawValue].map { headerBytes[$0] } }

    /// What the path asks for.
    var target: PushTarget { PushTarget(path: self[.path] ?? []) }
}
