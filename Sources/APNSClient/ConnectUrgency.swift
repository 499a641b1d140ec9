/// How much a connect is needed. Of the connects that wait for the pace, the most urgent goes first.
package enum ConnectUrgency: Int, Comparable, Sendable {
    /// No job waits for the connection. It replaces a lost connection, or proves a credential.
    case idle
    /// Jobs wait, and other connections carry them.
    case growing
    /// Jobs wait, and there is no connection for them.
    case stranded

    package static func < (one: ConnectUrgency, other: ConnectUrgency) -> Bool { one.rawValue < other.rawValue }
}
