import Foundation
import TestSupport
import Testing

/// A language in which `config/examples` has a producer and a consumer.
enum ExampleLanguage: String, CaseIterable, CustomTestStringConvertible {
    case python, go, java, ruby, php

    /// Those to test: Python, and the others too where `MARTLET_EXAMPLES=1` says that their packages are installed.
    static var tested: [Self] {
        ProcessInfo.processInfo.environment["MARTLET_EXAMPLES"] == "1" ? allCases : [.python]
    }

    /// What the test's name shows.
    var testDescription: String { rawValue }

    /// The command that runs one of the language's two programs from its directory, without the program's arguments.
    ///
    /// - Parameter program: `producer` or `consumer`.
    func command(_ program: String) -> [String] {
        switch self {
        case .python: ["/usr/bin/python3", "\(program).py"]
        case .go: ["/usr/bin/go", "run", "\(program).go"]
        case .java: ["/usr/bin/java", "-cp", Self.classPath, "\(program.capitalized).java"]
        case .ruby: ["/usr/bin/ruby", "-w", "\(program).rb"]
        case .php: ["/usr/bin/php", "\(program).php"]
        }
    }

    private static let classPath = ["amqp-client", "gson", "slf4j-api", "slf4j-nop"]
        .map { "/usr/share/java/\($0).jar" }.joined(separator: ":")

    /// The variables that Debian's packages need besides the programs' own: Go's have no modules.
    var variables: [String: String] {
        guard self == .go else { return PythonEnvironment.variables }
        return [
            "PATH": "/usr/bin:/bin", "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOFLAGS": "-p=1",
            "GOCACHE": "\(PythonEnvironment.repository)/.build/go",
        ]
    }
}
