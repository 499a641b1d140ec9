@testable import PushModel

extension Job {
    /// A part of the buffer as text.
    func text(_ range: Range<Int>?) -> String? { range.map { String(decoding: bytes[$0], as: UTF8.self) } }

    /// All tokens as text.
    var tokenTexts: [String] { (0..<tokenCount).compactMap { text(deviceToken($0)) } }
}
