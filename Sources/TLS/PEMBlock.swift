/// One block of a text with keys or certificates: its label, and what stands between its lines BEGIN and END.
///
/// It is read more leniently than RFC 7468, 3 asks for. White space in it means nothing, wherever it stands, and neither
/// does a written `\n`. So a block may be indented or stand in one line, and its line ends may be written out, as people
/// and programs pass keys on.
struct PEMBlock: Equatable {
    /// What stands in the block, by its label.
    let object: KeyFileObject
    /// The binary form; nil if the text between the two lines is not base64.
    let content: [UInt8]?

    private static let dashes = Array("-----".utf8)
    private static let begin = Array("-----BEGIN ".utf8)
    private static let end = Array("-----END ".utf8)

    /// Reads all blocks of a text; what stands between them is skipped.
    ///
    /// - Returns: The blocks, and whether the text ends within one.
    static func all(in text: ArraySlice<UInt8>) -> (blocks: [PEMBlock], isCut: Bool) {
        var blocks: [PEMBlock] = []
        var rest = text
        while let begin = place(of: Self.begin, in: rest) {
            let head = rest[(begin + Self.begin.count)...]
            // The next dashes end the line BEGIN, those after them begin the line END, and the third ones end it.
            guard let labelEnd = place(of: dashes, in: head) else { return (blocks, true) }
            let body = head[(labelEnd + dashes.count)...]
            guard let bodyEnd = place(of: dashes, in: body), body[bodyEnd...].starts(with: Self.end),
                let last = place(of: dashes, in: body[(bodyEnd + Self.end.count)...])
            else { return (blocks, true) }
            blocks.append(PEMBlock(label: head[..<labelEnd], body: body[..<bodyEnd]))
            rest = body[(last + dashes.count)...]
        }
        return (blocks, false)
    }

    private init(label: ArraySlice<UInt8>, body: ArraySlice<UInt8>) {
        // The header of RFC 1421, 4.6.1.1 of a key that is encrypted in the old way.
        let isEncrypted = Self.place(of: Array("Proc-Type:".utf8), in: body) != nil
        object = isEncrypted ? .encryptedKey : KeyFileObject(label: label)
        content = KeyFileObject.base64(body)
    }

    /// The first place of some bytes.
    private static func place(of pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= pattern.count else { return nil }
        return (bytes.startIndex...(bytes.endIndex - pattern.count)).first { bytes[$0...].starts(with: pattern) }
    }
}
