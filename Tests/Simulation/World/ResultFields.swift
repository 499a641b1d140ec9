import PushModel

/// What a result says, as far as the world looks at it.
struct ResultFields {
    private(set) var job = ""
    private(set) var index: Int?
    private(set) var outcome = ""
    private(set) var isRedelivered = false
    private(set) var attempt = 1
    private(set) var detail = ""

    /// Reads the results of a message: one, or several under `results`. An empty one stands for a body that is no result.
    static func read(_ body: [UInt8]) -> [ResultFields] {
        var scanner = JSONScanner(0..<body.count)
        var several: [ResultFields] = []
        guard let one = try? ResultFields(&scanner, body, &several) else { return [ResultFields()] }
        return several.isEmpty ? [one] : several
    }

    private init() {}

    private init(_ scanner: inout JSONScanner, _ body: [UInt8], _ several: inout [ResultFields]) throws(JSONError) {
        let bytes = body.span
        guard try scanner.enterObject(in: bytes) else { return }
        while let name = try scanner.nextName(in: bytes) {
            let value = try scanner.value(in: bytes)
            var text: String { String(decoding: body[value.range], as: UTF8.self) }
            switch String(decoding: body[name.range], as: UTF8.self) {
            case "job_id": job = text
            case "index": index = Int(text)
            case "outcome": outcome = text
            case "redelivered": isRedelivered = text == "true"
            case "attempt": attempt = Int(text) ?? 0
            case "detail": detail = text
            case "results":
                var list = JSONScanner(value.range)
                guard try list.enterArray(in: bytes) else { return }
                while try list.hasElement(in: bytes) {
                    var none: [ResultFields] = []
                    several.append(try ResultFields(&list, body, &none))
                }
            default: break
            }
        }
    }
}
