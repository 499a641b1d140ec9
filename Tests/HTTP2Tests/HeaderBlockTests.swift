import Testing

@testable import HTTP2

@Suite("Header blocks", .timeLimit(.minutes(1)))
struct HeaderBlockTests {
    @Test("Truncating to a mark keeps the fields before it and drops those after it")
    func truncation() throws {
        var block = HeaderBlock.push()
        let mark = block.mark
        for value in ["one", "two"] {
            block.truncate(to: mark)
            block.append("apns-collapse-id", Array(value.utf8).span)
            block.append("apns-priority", "5")
        }
        #expect(block.count == 6)
        let plain = try received(HeaderBlock.push())
        #expect(try received(block) == plain + ["apns-collapse-id: two", "apns-priority: 5"])
        block.beginValue("x")
        block.truncate(to: mark)
        #expect(try received(block) == plain)
    }

    @Test(
        "A field arrives the same, however it was added and indexed",
        arguments: [HeaderBlock.Indexing.indexed, .notIndexed, .neverIndexed])
    func everyKind(indexing: HeaderBlock.Indexing) throws {
        var block = HeaderBlock()
        block.append(":method", "POST", indexing)
        block.append(":scheme", Array("https".utf8).span, indexing)
        block.beginValue(":path", indexing)
        block.appendPiece("/3/device/")
        block.appendPiece([UInt8(ascii: "a"), UInt8(ascii: "b")].span)
        block.appendPiece("c")
        block.endValue()
        block.append(":authority", "a", indexing)
        block.append("x", "y", indexing)
        block.append(name: Array("apns-topic".utf8).span, value: Array("com.example".utf8).span, indexing)
        block.append("empty", "", indexing)
        block.append("none", [UInt8]().span, indexing)
        #expect(
            try received(block) == [
                ":method: POST", ":scheme: https", ":path: /3/device/abc", ":authority: a", "x: y",
                "apns-topic: com.example", "empty: ", "none: ",
            ])
    }

    @Test("An emptied block can be filled again")
    func reuse() throws {
        var block = HeaderBlock.push(extra: [("a", "b")])
        block.removeAll()
        #expect(block.count == 0)
        block.append(":method", "GET")
        block.append(":scheme", "https")
        block.append(":path", "/")
        block.append(":authority", "b")
        #expect(try received(block) == [":method: GET", ":scheme: https", ":path: /", ":authority: b"])
    }

    @Test("More fields than the session's buffer holds at first arrive all")
    func manyFields() throws {
        let extra = (0..<100).map { ("x-\($0)", "value \($0)") }
        #expect(try received(HeaderBlock.push(extra: extra)).suffix(100) == extra.map { "\($0.0): \($0.1)" }[...])
    }

    @Test("A block of absurd size is refused, and the session goes on")
    func absurdSize() throws {
        let pair = try Pair()
        pair.echo()
        let field = ("x", String(repeating: "a", count: HTTP2ClientSession.requestHeaderLimit))
        let error = #expect(throws: HTTP2Error.self) { try pair.submit(tag: 0, extra: [field]) }
        #expect(error?.code == .invalidArgument)
        try pair.submit(tag: 0)
        try pair.settle()
        #expect(pair.clientEvents.closureByTag == [0: .complete])
    }

    @Test("An indexed field costs one byte the second time, a secret one is sent again and never indexed")
    func compression() throws {
        let secret = "0123456789012345678901234567890123456789"
        let sizes = try [HeaderBlock.Indexing.indexed, .neverIndexed].map { indexing in
            let peer = try RawServer()
            var block = HeaderBlock()
            block.append(":method", "POST")
            block.append(":scheme", "https")
            block.append(":path", "/")
            block.append("x-secret", Array(secret.utf8).span, indexing)
            try peer.drain()
            return try (0..<2).map { tag in
                _ = try peer.client.submit(block, body: [], range: 0..<0, tag: tag)
                return try peer.drain().count
            }
        }
        #expect(sizes[0][1] == 9 + 4)
        #expect(sizes[1][0] == sizes[1][1])
        #expect(sizes[1][1] > 30)
    }

    /// What a server sees of a block.
    private func received(_ block: HeaderBlock) throws -> [String] {
        let pair = try Pair()
        _ = try pair.client.submit(block, body: [], range: 0..<0, tag: 0)
        try pair.settle()
        return try #require(pair.serverEvents.requests.first).lines
    }
}
