package import LocalStack

/// The Python that has the packages of `config/python.txt`.
package enum PythonEnvironment {
    /// The directory of the repository that this file belongs to.
    package static let repository = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    /// Its interpreter, where `.ci/python` puts it.
    package static let interpreter = repository + "/.build/python/bin/python"

    /// The variables of a Python process: nothing of the test's own, and no compiled files beside its scripts.
    package static let variables = [
        "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1",
    ]

    /// Runs a script to its end.
    ///
    /// - Parameters:
    ///   - script: Its path.
    ///   - input: Its standard input.
    ///   - timeout: How long it may take; it is killed afterwards.
    /// - Returns: Its output and how it ended.
    /// - Throws: `LocalStackError` when it cannot be started or takes too long.
    package static func run(
        _ script: String, input: [UInt8], timeout: Duration
    ) throws(LocalStackError) -> ChildProcess.Outcome {
        // Where the interpreter is missing this throws, and the test fails: run `.ci/python`, as `make test` does.
        try ChildProcess.run(interpreter, [script], environment: variables, input: input, timeout: timeout)
    }
}
