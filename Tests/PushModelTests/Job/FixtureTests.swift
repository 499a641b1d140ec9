import Foundation
import Testing
import Text

@testable import PushModel

@Suite("Malformed jobs kept as files", .timeLimit(.minutes(1)))
struct FixtureTests {
    private func message(_ bytes: [UInt8]) -> MessageBuilder {
        MessageBuilder.enveloped("") {
            $0.body = bytes
            $0.messageID = "job-1"
        }
    }

    @Test("each file that must be refused gets the reason its name begins with")
    func refused() throws {
        let names = try Fixture.names(in: "refused")
        #expect(names.count > 120)
        for name in names {
            let builder = message(try Fixture.bytes("refused/" + name))
            guard case .failure(let defect) = builder.decode() else {
                Issue.record("\(name) was accepted")
                continue
            }
            #expect(
                name.hasPrefix(defect.reason.rawValue + "-"), "\(name): \(defect.reason.rawValue), \(defect.detail)")
            #expect(defect.detail.utf8.count > 15 && defect.detail.utf8.count < 200, "\(name)")
            #expect(!defect.detail.contains("a1b2"), "\(name)")
            #expect(defect.job.text(defect.job.jobID) == "job-1", "\(name)")
        }
    }

    @Test("each file that must be accepted is")
    func accepted() throws {
        let names = try Fixture.names(in: "accepted")
        #expect(names.count > 15)
        for name in names {
            if case .failure(let defect) = message(try Fixture.bytes("accepted/" + name)).decode() {
                Issue.record("\(name): \(defect.reason.rawValue), \(defect.detail)")
            }
        }
    }

    @Test("a job cut off at any byte is refused, and nothing traps")
    func truncated() throws {
        for name in try Fixture.names(in: "accepted") {
            let whole = try Fixture.bytes("accepted/" + name)
            let end = whole.lastIndex(of: UInt8(ascii: "}")) ?? 0
            let step = whole.count > 2_000 ? 97 : 1
            for length in stride(from: 0, through: end, by: step) {
                guard case .failure(let defect) = message(Array(whole[..<length])).decode() else {
                    Issue.record("\(name) was accepted with \(length) bytes")
                    continue
                }
                // A cut within a character leaves half of it.
                let isPlain = length == 0 || whole[length - 1] < 0x80 || whole[length] & 0xC0 != 0x80
                #expect(defect.reason == (isPlain ? .badJSON : .badEncoding), "\(name) with \(length) bytes")
            }
        }
    }

    @Test("twenty thousand random changes to jobs are answered, and every answer can be reported")
    func mutated() throws {
        var generator = SplitMix64(seed: 2_026)
        let small: ([UInt8]) -> Bool = { $0.count < 3_000 }
        let good = try Fixture.names(in: "accepted").map { try Fixture.bytes("accepted/" + $0) }.filter(small)
        let bad = try Fixture.names(in: "refused").map { try Fixture.bytes("refused/" + $0) }.filter(small)
        let origin = ResultOrigin(route: "example", worker: "worker")
        var accepted = 0
        for round in 0..<20_000 {
            let seeds = generator.next() % 4 == 0 ? bad : good
            var bytes = seeds[Int(generator.next() % UInt64(seeds.count))]
            for _ in 0...(generator.next() % 3) { Self.mutate(&bytes, &generator) }
            var job: Job
            var final = FinalReport(.accepted, .none, status: 200)
            switch message(bytes).decode() {
            case .success(let decoded):
                job = decoded
                accepted += 1
            case .failure(let defect):
                job = defect.job
                final = defect.report
            }
            for index in 0..<min(job.tokenCount, 8) {
                _ = job.apnsID(index)
                _ = job.tokenDefect(index)
            }
            // Parsing each result would take most of the minute; every fiftieth is looked at.
            guard round % 50 == 0 else { continue }
            var body: [UInt8] = []
            ResultReport(index: 0, final: final, finishedAt: 1).appendBody(for: job, from: origin, to: &body)
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(body)) }
        }
        #expect(accepted > 1_000)
    }

    /// One random change: a bit, a byte, a cut, a repetition, or a piece of syntax.
    private static func mutate(_ bytes: inout [UInt8], _ generator: inout SplitMix64) {
        guard !bytes.isEmpty else { return bytes.append(UInt8(truncatingIfNeeded: generator.next())) }
        let place = Int(generator.next() % UInt64(bytes.count))
        switch generator.next() % 6 {
        case 0: bytes[place] ^= 1 << UInt8(generator.next() % 8)
        case 1: bytes[place] = UInt8(truncatingIfNeeded: generator.next())
        case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int(generator.next() % 9)))
        case 3: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 9)], at: place)
        case 4: bytes.insert(UInt8(truncatingIfNeeded: generator.next()), at: place)
        default:
            let pieces = ["{", "}", "[", "]", "\"", "\\", ",", ":", "\\u", "\\ud800", "null", "1e9", "\u{0}", "é"]
            bytes.insert(contentsOf: pieces[Int(generator.next() % UInt64(pieces.count))].utf8, at: place)
        }
    }
}
