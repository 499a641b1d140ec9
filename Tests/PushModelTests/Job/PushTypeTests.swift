import Testing

@testable import PushModel

@Suite("Push types", .timeLimit(.minutes(1)))
struct PushTypeTests {
    /// What Apple says about a type: its name, the topic's suffix, the default priority and the payload's limit.
    struct Row: CustomTestStringConvertible, Sendable {
        var type: PushType
        var name: String
        var suffix: String
        var priority: UInt8 = 10
        var limit = 4_096

        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(type: .alert, name: "alert", suffix: ""),
        Row(type: .background, name: "background", suffix: "", priority: 5),
        Row(type: .complication, name: "complication", suffix: ".complication"),
        Row(type: .controls, name: "controls", suffix: ".push-type.controls"),
        Row(type: .fileProvider, name: "fileprovider", suffix: ".pushkit.fileprovider"),
        Row(type: .liveActivity, name: "liveactivity", suffix: ".push-type.liveactivity"),
        Row(type: .location, name: "location", suffix: ".location-query"),
        Row(type: .mdm, name: "mdm", suffix: ""),
        Row(type: .pushToTalk, name: "pushtotalk", suffix: ".voip-ptt"),
        Row(type: .voip, name: "voip", suffix: ".voip", limit: 5_120),
        Row(type: .widgets, name: "widgets", suffix: ".push-type.widgets"),
    ]

    /// A job of a type in either form, by its name or, where it is nil, by its topic alone.
    private func job(
        _ row: Row, named name: String?, payload: String = #"{"aps":{}}"#, priority: Int64? = nil, isRaw: Bool
    ) -> MessageBuilder {
        guard isRaw else {
            var fields = name.map { [#""push_type":"\#($0)""#] } ?? []
            if let priority { fields.append(#""priority":\#(priority)"#) }
            return .enveloped(adding: fields.joined(separator: ","), payload: payload) { $0.routingKey += row.suffix }
        }
        return .raw {
            $0.routingKey += row.suffix
            if let name { $0.headers.append(("apns-push-type", .text(name))) }
            if let priority { $0.headers.append(("apns-priority", .integer(priority))) }
            $0.body = Array(payload.utf8)
        }
    }

    @Test("a type is known by its name, has its suffix, its default priority and its limit", arguments: rows)
    func rules(_ row: Row) throws {
        #expect("\(row.type.text)" == row.name && "\(row.type.topicSuffix)" == row.suffix)
        #expect(row.type.payloadLimit == row.limit)
        for isRaw in [false, true] {
            let job = try job(row, named: row.name, isRaw: isRaw).job()
            #expect(job.pushType == row.type && job.priority == row.priority && job.unknownFields == 0)
            #expect(job.text(job.topic) == "com.example.app\(row.suffix)")
        }
        #expect(Topic.pushType(of: "com.example.app\(row.suffix)") == (row.suffix.isEmpty ? nil : row.type))
        #expect(row.suffix.isEmpty || Topic.suffixes.contains { "\($0)" == row.suffix })
    }

    @Test("a suffix alone chooses its type, with that type's limit", arguments: rows.filter { !$0.suffix.isEmpty })
    func suffix(_ row: Row) throws {
        for isRaw in [false, true] {
            #expect(try job(row, named: nil, isRaw: isRaw).job().pushType == row.type)
        }
    }

    @Test("a payload of the limit's length is taken, one byte more is not", arguments: rows)
    func size(_ row: Row) throws {
        for isRaw in [false, true] {
            let payload = #"{"a":"\#(String(repeating: "x", count: row.limit - 8))"}"#
            #expect(try job(row, named: row.name, payload: payload, isRaw: isRaw).job().payload.count == row.limit)
            let longer = #"{"a":"\#(String(repeating: "x", count: row.limit - 7))"}"#
            let defect = try job(row, named: row.name, payload: longer, isRaw: isRaw).defect()
            #expect(defect.reason == .payloadTooLarge && defect.detail.contains("\(row.limit)"))
        }
    }

    @Test("priorities 10, 5 and 1 go with every type, but 10 not with background", arguments: rows)
    func priorities(_ row: Row) throws {
        for isRaw in [false, true] {
            for priority in [10, 5, 1] as [Int64] where !(row.type == .background && priority == 10) {
                let job = try job(row, named: row.name, priority: priority, isRaw: isRaw).job()
                #expect(job.priority == UInt8(priority))
            }
            for priority in [0, 2, 7, 11] as [Int64] {
                let defect = try job(row, named: row.name, priority: priority, isRaw: isRaw).defect()
                #expect(defect.reason == .badPriority)
            }
        }
        if row.type == .background {
            for isRaw in [false, true] {
                let defect = try job(row, named: row.name, priority: 10, isRaw: isRaw).defect()
                #expect(defect.reason == .badPriority && defect.detail.contains("background"))
            }
        }
    }

    @Test("an unknown type passes as written with the common rules, and is counted, in both forms")
    func unknown() throws {
        let row = Row(type: .alert, name: "hologram", suffix: "")
        for isRaw in [false, true] {
            let job = try job(row, named: row.name, isRaw: isRaw).job()
            guard case .other(let range) = job.pushType else {
                Issue.record("the type is unknown")
                continue
            }
            #expect(job.text(range) == "hologram" && job.priority == 10 && job.unknownFields == 1)
            #expect(job.pushType.payloadLimit == 4_096 && "\(job.pushType.topicSuffix)" == "")
        }
    }
}
