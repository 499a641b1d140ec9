extension JobReader {
    /// Finds the fields of the body, keeping those before a mistake.
    mutating func readEnvelope() {
        var found = Envelope()
        do throws(JSONError) {
            if try !scanEnvelope(into: &found) { fail(.badJSON, "the body must be a JSON object") }
        } catch {
            if error.kind == .invalidUTF8 {
                fail(.badEncoding, "the body: " + error.detail)
            } else {
                fail(.badJSON, "the body: " + error.detail)
            }
        }
        envelope = found
        if envelope.hasDuplicates { fail(.badJSON, "the body gives one of its fields twice") }
        job.unknownFields = envelope.unknownCount
    }

    /// Scans the body; false when it is not an object.
    private func scanEnvelope(into envelope: inout Envelope) throws(JSONError) -> Bool {
        let bytes = job.bytes.span
        var scanner = JSONScanner(job.body)
        guard try scanner.enterObject(in: bytes) else { return false }
        while let name = try scanner.nextName(in: bytes) {
            let value = try scanner.value(in: bytes)
            if name.flag {
                // Nobody escapes these names, but one who does means the same name.
                var copy = [UInt8](job.bytes[name.range])
                if let text = JSONText.unescape(0..<copy.count, in: &copy) {
                    envelope.take(copy.span.extracting(text), value)
                } else {
                    envelope.unknownCount += 1
                }
            } else {
                envelope.take(bytes.extracting(name.range), value)
            }
        }
        try scanner.finish(in: bytes)
        return true
    }

    /// Whether `aps` of the payload holds `content-available` and nothing else, which makes it a background push.
    func payloadIsBackground(_ payload: Range<Int>) -> Bool {
        let bytes = job.bytes.span
        var scanner = JSONScanner(payload)
        do throws(JSONError) {
            guard try scanner.enterObject(in: bytes) else { return false }
            while let name = try scanner.nextName(in: bytes) {
                guard bytes.extracting(name.range).matches("aps" as StaticString) else {
                    _ = try scanner.value(in: bytes)
                    continue
                }
                let aps = try scanner.value(in: bytes)
                guard aps.kind == .object else { return false }
                var members = JSONScanner(aps.range)
                guard try members.enterObject(in: bytes) else { return false }
                var count = 0
                while let member = try members.nextName(in: bytes) {
                    guard bytes.extracting(member.range).matches("content-available" as StaticString) else {
                        return false
                    }
                    _ = try members.value(in: bytes)
                    count += 1
                }
                return count > 0
            }
            return false
        } catch {
            return false
        }
    }
}
