import Glibc

/// Which `reply_to` addresses the worker answers: a POSIX extended regular expression, matched on bytes.
///
/// Matching makes no string and is safe from any thread.
/// [regcomp(3)](https://man7.org/linux/man-pages/man3/regcomp.3.html)
package final class ReplyPattern: Sendable {
    /// What is wrong with an expression.
    package struct Failure: Error, Sendable, Equatable {
        /// The reason in words.
        package let message: String
    }

    // Written once in `init`; regexec takes the lock inside the compiled expression, so threads may share it.
    nonisolated(unsafe) private let expression: UnsafeMutablePointer<regex_t>

    /// Compiles an expression.
    ///
    /// - Parameter pattern: The expression.
    /// - Throws: ``Failure`` if the expression does not compile. Also if it has an escape or a `(?` group of another
    ///   dialect, because these mean something else here.
    package init(_ pattern: String) throws(Failure) {
        if let problem = Self.foreignEscape(in: pattern) { throw Failure(message: problem) }
        // Compiled before it is stored: a throw after every property is set would run `deinit` on an invalid
        // expression.
        let compiled = UnsafeMutablePointer<regex_t>.allocate(capacity: 1)
        compiled.initialize(to: regex_t())
        let code = regcomp(compiled, pattern, REG_EXTENDED | REG_NOSUB)
        guard code == 0 else {
            var text = [CChar](repeating: 0, count: 200)
            let length = regerror(code, compiled, &text, text.count)
            compiled.deinitialize(count: 1)
            compiled.deallocate()
            let reason = text.prefix(max(0, min(length, text.count) - 1)).map { UInt8(bitPattern: $0) }
            throw Failure(message: "not a regular expression: \(String(decoding: reason, as: UTF8.self))")
        }
        expression = compiled
    }

    deinit {
        regfree(expression)
        expression.deinitialize(count: 1)
        expression.deallocate()
    }

    /// Whether an address may be answered.
    ///
    /// - Parameter address: The bytes of `reply_to`.
    package func allows(_ address: Span<UInt8>) -> Bool {
        var match = regmatch_t(rm_so: 0, rm_eo: regoff_t(address.count))
        // REG_STARTEND also matches bytes behind a zero byte. The zero byte at the end is there because regexec(3) may
        // look for one.
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: address.count + 1) { text in
            for position in 0..<address.count {
                text.initializeElement(at: position, to: CChar(bitPattern: address[position]))
            }
            text.initializeElement(at: address.count, to: 0)
            guard let base = text.baseAddress else { return false }
            return regexec(expression, base, 1, &match, REG_STARTEND) == 0
        }
    }

    /// Says what is wrong with a backslash sequence that extended expressions read as a plain letter, or with a `(?`
    /// group.
    private static func foreignEscape(in pattern: String) -> String? {
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            if isEscaped, scalar.isASCII, scalar.properties.isAlphabetic, !"wWsSbB".unicodeScalars.contains(scalar) {
                let advice = scalar == "d" ? "write [0-9]" : "POSIX extended expressions do not have it"
                return "\\\(scalar) is not supported: \(advice)"
            }
            isEscaped = !isEscaped && scalar == "\\"
        }
        if pattern.contains("(?") { return "(? groups are not supported: POSIX extended expressions do not have them" }
        return nil
    }
}
