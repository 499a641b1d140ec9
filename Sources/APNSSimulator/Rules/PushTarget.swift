/// What the path of a request leads to.
enum PushTarget: Equatable {
    /// `/3/device/<token>`; the token is not judged yet.
    case device([UInt8])
    /// `/3/device` or `/3/device/`.
    case missingDeviceToken
    /// Anything else.
    case unknown

    /// Reads a path.
    ///
    /// - Parameter path: The bytes of `:path`.
    init(path: ArraySlice<UInt8>) {
        let prefix = "/3/device".utf8
        guard path.starts(with: prefix) else {
            self = .unknown
            return
        }
        let rest = path.dropFirst(prefix.count)
        if rest.isEmpty || (rest.count == 1 && rest.first == UInt8(ascii: "/")) {
            self = .missingDeviceToken
        } else if rest.first == UInt8(ascii: "/"), !rest.dropFirst().contains(UInt8(ascii: "/")) {
            self = .device(Array(rest.dropFirst()))
        } else {
            self = .unknown
        }
    }
}
