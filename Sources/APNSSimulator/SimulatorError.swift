/// What can go wrong in the simulator itself; refusals of pushes are answers (``Refusal``), not errors.
package struct SimulatorError: Error, Sendable, CustomStringConvertible {
    /// The kinds of trouble a caller can tell apart.
    package struct Code: RawRepresentable, Hashable, Sendable {
        /// The name of the kind, as it appears in texts.
        package var rawValue: String

        /// Makes a kind from its name.
        package init(rawValue: String) { self.rawValue = rawValue }

        /// A setting contradicts another one or cannot be understood.
        package static let configuration = Code(rawValue: "configuration")
        /// A file cannot be read, written or understood.
        package static let file = Code(rawValue: "file")
        /// The scenario file has errors; the message lists each with its line and column.
        package static let scenario = Code(rawValue: "scenario")
        /// A socket, thread or event loop could not be set up.
        package static let network = Code(rawValue: "network")
        /// A certificate or key could not be made or read.
        package static let credential = Code(rawValue: "credential")
        /// A client broke HTTP/2 so that its connection cannot go on.
        package static let `protocol` = Code(rawValue: "protocol")
    }

    /// The kind of trouble.
    package var code: Code

    /// A sentence a person can act on.
    package var message: String

    /// Whether trying the same again later may work.
    package var isRetriable: Bool { code == .network }

    /// The kind and the sentence.
    package var description: String { "\(code.rawValue): \(message)" }

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The kind of trouble.
    ///   - message: A sentence a person can act on, without keys or device tokens.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
