import Foundation

/// The program's own Swift files, as tests hold pages to words that stand nowhere but in them.
package enum SourceCode {
    /// The code of a file, or of all files of a directory, without the lines that are comments.
    ///
    /// - Parameter path: Where it is, from `Sources`.
    /// - Throws: An error of the file system.
    package static func text(_ path: String) throws -> String {
        let place = URL(filePath: "\(PythonEnvironment.repository)/Sources/\(path)")
        let files = FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil)?
            .compactMap { $0 as? URL }
        return try (place.pathExtension == "swift" ? [place] : files ?? []).filter { $0.pathExtension == "swift" }
            .flatMap { try String(contentsOf: $0, encoding: .utf8).split(separator: "\n") }
            .filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
    }
}
