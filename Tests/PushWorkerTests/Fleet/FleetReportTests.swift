import Testing

@testable import PushWorker

@Suite("What a worker tells its fleet", .timeLimit(.minutes(1)))
struct FleetReportTests {
    @Test(
        "What is written is read again, whatever the worker is called",
        arguments: [
            "w", "martlet-7f9c-x2", #"a "quoted" \ name"#, "line\nend", "wörker", String(repeating: "w", count: 255),
        ])
    func roundTrip(_ instance: String) {
        for isLeaving in [false, true] {
            let report = FleetReport(instance: instance, startedAt: 1_795_508_155_123, isLeaving: isLeaving)
            #expect(FleetReport(parsing: report.json) == report)
            #expect(report.json.count <= FleetReport.maximumLength)
        }
    }

    @Test("The form of a report is fixed, for other versions read it")
    func form() {
        let report = FleetReport(instance: "w-1", startedAt: 5)
        let text = #"{"type":"martlet.fleet","version":1,"instance":"w-1","started_at":5,"leaving":false}"#
        #expect(String(decoding: report.json, as: UTF8.self) == text)
    }

    @Test("Members that this version does not know are left alone, and one that is not there means no")
    func additions() {
        let text = #"{"load":[1,{"a":null}],"type":"martlet.fleet","instance":"\u0077-1","version":1,"started_at":5}"#
        #expect(FleetReport(parsing: Array(text.utf8)) == FleetReport(instance: "w-1", startedAt: 5))
    }

    @Test(
        "Anything else is not a report",
        arguments: [
            "", "{}", "[]", "null", "{", "report", #"{"type":"martlet.fleet"}"#,
            #"{"type":"other","version":1,"instance":"w","started_at":5}"#,
            #"{"type":"martlet.fleet","version":2,"instance":"w","started_at":5}"#,
            #"{"type":"martlet.fleet","version":"1","instance":"w","started_at":5}"#,
            #"{"type":"martlet.fleet","version":1,"instance":"","started_at":5}"#,
            #"{"type":"martlet.fleet","version":1,"instance":7,"started_at":5}"#,
            #"{"type":"martlet.fleet","version":1,"instance":"\ud800","started_at":5}"#,
            #"{"type":"martlet.fleet","version":1,"instance":"w"}"#,
            #"{"type":"martlet.fleet","version":1,"instance":"w","started_at":"5"}"#,
            #"{"type":"martlet.fleet","version":1,"instance":"w","started_at":5.5}"#,
            #"{"type":"martlet.fleet","version":1,"instance":"w","started_at":1e99}"#,
            #"{"type":"martlet.fleet","version":1,"instance":"w","started_at":99999999999999999999}"#,
            #"{"type":"martlet.fleet","version":1,"instance":"w","started_at":5,"leaving":"no"}"#,
            #"{"type":"martlet.fleet","version":1,"instance":"w","started_at":5}}"#,
            String(repeating: "[", count: 1_024), "\u{0}",
        ])
    func garbage(_ text: String) {
        #expect(FleetReport(parsing: Array(text.utf8)) == nil)
    }

    @Test("A report over the limit is not read")
    func tooLong() {
        func report(_ length: Int) -> [UInt8] {
            let start = #"{"type":"martlet.fleet","version":1,"instance":"w","started_at":5,"more":""#
            return Array((start + String(repeating: "x", count: length - start.utf8.count - 2) + "\"}").utf8)
        }
        #expect(FleetReport(parsing: report(FleetReport.maximumLength)) != nil)
        #expect(FleetReport(parsing: report(FleetReport.maximumLength + 1)) == nil)
        #expect(FleetReport(parsing: [0xFF, 0xFE]) == nil)
    }
}
