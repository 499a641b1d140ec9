import Foundation
import LocalStack
import PushWorker
import RabbitMQ
import Testing

@Suite("Broadcasts and broadcast channels through the broker", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct BroadcastChannelTests {
    static let channelID = "dHN0LXNyY2gtY2hubA=="

    /// The part of a result that only jobs about broadcast channels have.
    struct BroadcastChannelResult: Decodable {
        var operation: String
        var channelId: String?
        var storagePolicy: Int?
        var identifiers: [String]?
        var apnsRequestId: String
        var deviceToken: String?
        var apnsId: String?

        private enum CodingKeys: String, CodingKey {
            case operation, channelId, storagePolicy, apnsRequestId, deviceToken, apnsId
            case identifiers = "channels"
        }
    }

    /// Apple's answers to everything.
    static let apple: BroadcastChannelServer.Script = { request, _ in
        let id = ("apns-request-id", request.headers["apns-request-id"] ?? "")
        switch request.line {
        case "POST /1/apps/com.example.app/channels":
            return .init(status: 201, headers: [id, ("apns-channel-id", channelID)])
        case "GET /1/apps/com.example.app/channels":
            return .init(status: 200, headers: [id], body: #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
        case "GET /1/apps/com.example.app/all-channels":
            return .init(status: 200, headers: [id], body: #"{"channels":["\#(channelID)","b3RoZXI="]}"#)
        case "DELETE /1/apps/com.example.app/channels": return .init(status: 204, headers: [id])
        case "POST /4/broadcasts/apps/com.example.app": return .init(status: 200, headers: [id])
        default: return .init(status: 200)
        }
    }

    /// A server, a broker and a worker between them.
    struct Ring {
        let server: BroadcastChannelServer
        let stack: BrokerStack
        let client: JobClient
        let worker: LiveWorker
        private let directory: TemporaryDirectory

        /// - Parameters:
        ///   - broadcast: Where broadcasts go; nil for the server.
        ///   - management: Where broadcast channels are managed; nil for the server, empty for nowhere.
        init(
            _ name: String, _ script: @escaping BroadcastChannelServer.Script = apple, broadcast: String? = nil,
            management: String? = nil, requestTimeout: String = "20s", rate: Int? = nil
        ) async throws {
            server = try BroadcastChannelServer(script)
            directory = try TemporaryDirectory(prefix: "martlet-broadcasts")
            let authority = try directory.write(server.authority, to: "ca.pem")
            let address = "https://localhost:\(server.port)"
            let management = management ?? address
            stack = try await BrokerStack.start(
                name, apps: [BrokerStack.App(route: "app", topic: "com.example.app", rate: rate)],
                apns: """
                    { production: "\(address)", development: "\(address)", trust_file: "\(authority)", \
                    request_timeout: \(requestTimeout), broadcast: { development: "\(broadcast ?? address)" }\
                    \(management.isEmpty ? "" : ", channels: { development: \"\(management)\" }") }
                    """)
            client = try JobClient(stack)
            worker = try stack.startWorker()
        }

        /// Publishes an enveloped job of these fields and waits for its result.
        func result(of fields: String, as name: String) throws -> (JobResult, BroadcastChannelResult) {
            try client.publish(.enveloped("{\(fields)}"), as: name)
            return try result(name)
        }

        func result(_ name: String) throws -> (JobResult, BroadcastChannelResult) {
            let (message, result) = try client.result(name)
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return (result, try decoder.decode(BroadcastChannelResult.self, from: Data(message.body)))
        }

        func stop() async throws {
            client.close()
            try await worker.stop()
            server.stop()
        }
    }

    @Test("broadcast channels are made, read, listed, sent to and deleted, each job with one result, in both forms")
    func life() async throws {
        let ring = try await Ring("broadcast-channels")
        try ring.client.publishGoodJob(as: "push")
        #expect(try ring.client.result("push").result.outcome == "accepted")
        #expect(ring.server.connections == 1, "nothing is opened that no job needs")
        let id = "0193c0de-7a5b-7c3d-9e10-2f6b1a7c8d90"
        let created = try ring.result(of: #""operation":"create_channel","storage_policy":1"#, as: id)
        #expect(created.0.outcome == "accepted" && created.0.status == 201 && created.0.index == 0)
        #expect(created.1.operation == "create_channel" && created.1.channelId == Self.channelID)
        #expect(created.1.storagePolicy == 1 && created.1.apnsRequestId == id && created.1.deviceToken == nil)
        #expect(ring.server.requests.last?.headers["apns-request-id"] == id)

        let named = #""channel_id":"\#(Self.channelID)""#
        let read = try ring.result(of: #""operation":"read_channel",\#(named)"#, as: "read")
        #expect(read.0.outcome == "accepted" && read.1.storagePolicy == 1 && read.1.channelId == Self.channelID)
        let listed = try ring.result(of: #""operation":"list_channels""#, as: "list")
        #expect(listed.1.identifiers == [Self.channelID, "b3RoZXI="])
        #expect(ring.server.connections == 2, "one connection manages all broadcast channels")
        let published = try ring.result(of: #"\#(named),"payload":{"aps":{"event":"update"}}"#, as: "publish")
        #expect(published.0.outcome == "accepted" && published.1.operation == "broadcast")
        #expect(published.1.apnsId == nil && published.1.identifiers == nil)
        #expect(ring.server.requests.last?.body == #"{"aps":{"event":"update"}}"#)

        let raw: [(String, FieldValue)] = [("apns-channel-id", .text(Array(Self.channelID.utf8)))]
        try ring.client.publish(.raw(token: nil, headers: raw, body: #"{"aps":{}}"#), as: "raw")
        #expect(try ring.result("raw").1.operation == "broadcast")
        let deletion = raw + [("x-apns-operation", .text(Array("delete_channel".utf8)))]
        try ring.client.publish(.raw(token: nil, headers: deletion, body: ""), as: "delete")
        let deleted = try ring.result("delete")
        #expect(deleted.0.outcome == "accepted" && deleted.0.status == 204)
        #expect(ring.server.requests.last?.line == "DELETE /1/apps/com.example.app/channels")
        #expect(ring.server.connections == 3, "and one broadcasts")
        #expect(try ring.stack.leftovers() == [:])
        try ring.client.expectNothing(in: "apns.q.dead")
        try await ring.stop()
    }

    @Test("a worker that loses the broker while APNs is thinking makes no broadcast channel twice, and reports it once")
    func redelivery() async throws {
        let ring = try await Ring(
            "broadcast-blip",
            { request, before in request.line.hasPrefix("POST /1/") ? nil : Self.apple(request, before) },
            requestTimeout: "6s")
        try ring.client.publish(
            .enveloped(#"{"operation":"create_channel","storage_policy":0}"#), as: "created")
        let deadline = ContinuousClock.now.advanced(by: .seconds(20))
        while ring.server.requests.isEmpty, ContinuousClock.now < deadline {
            _ = try ring.stack.broker.queueCounts(virtualHost: ring.stack.virtualHost)
        }
        try ring.stack.broker.control(["close_all_connections", "--vhost", ring.stack.virtualHost, "a blip"])
        let client = try JobClient(ring.stack)
        let result = try client.result("created").result
        #expect(result.outcome == "unknown" && result.action == "check")
        #expect(try ring.stack.leftovers() == [:])
        #expect(ring.server.requests.count == 1)
        try client.expectNothing(in: "apns.q.results")
        client.close()
        try await ring.stop()
    }

    @Test(
        "refusals and jobs that make no sense end with a result and a dead letter, and reach APNs only if they should")
    func refusals() async throws {
        let ring = try await Ring("broadcast-refusals") { request, before in
            request.line.hasPrefix("DELETE")
                ? .init(status: 400, body: #"{"reason":"ChannelNotRegistered"}"#) : Self.apple(request, before)
        }
        let named = #""channel_id":"\#(Self.channelID)""#
        let unknown = try ring.result(of: #""operation":"delete_channel",\#(named)"#, as: "unknown")
        #expect(unknown.0.outcome == "rejected" && unknown.0.action == "fix_request")
        #expect(unknown.0.reason == "ChannelNotRegistered" && unknown.1.channelId == Self.channelID)
        try ring.client.publish(.enveloped(#"{"device_token":"a1b2",\#(named),"payload":{}}"#), as: "both")
        let both = try ring.client.result("both").result
        #expect(both.outcome == "invalid" && both.reason == "AmbiguousDeviceToken" && both.index == 0)
        for name in ["unknown", "both"] { _ = try ring.client.next(name, from: "apns.q.dead") }
        #expect(ring.server.requests.filter { !$0.line.contains("/3/device/") }.count == 1)
        try ring.client.expectNothing(in: "apns.q.results")
        try await ring.stop()
    }

    @Test("what passes by itself is tried again under the same id; a create_channel that was not answered is reported")
    func retries() async throws {
        let ring = try await Ring(
            "broadcast-retries",
            { request, before in
                if request.line.hasPrefix("POST /1/") { return nil }
                return before == 0 && request.line.contains("/4/broadcasts")
                    ? .init(status: 503, body: #"{"reason":"Service Unavailable"}"#) : Self.apple(request, before)
            }, requestTimeout: "3s")
        let again = try ring.result(of: #""channel_id":"\#(Self.channelID)","payload":{}"#, as: "again")
        #expect(again.0.outcome == "accepted" && again.0.attempt == 2)
        let ids = ring.server.requests.filter { $0.line.contains("broadcasts") }.map { $0.headers["apns-request-id"] }
        #expect(ids.count == 2 && Set(ids).count == 1 && ids[0] == again.1.apnsRequestId)

        let silent = try ring.result(of: #""operation":"create_channel","storage_policy":0"#, as: "silent")
        #expect(silent.0.outcome == "unknown" && silent.0.action == "check" && silent.0.attempt == 1)
        #expect(ring.server.requests.filter { $0.line.hasPrefix("POST /1/") }.count == 1)
        #expect(try ring.stack.leftovers() == [:])
        try await ring.stop()
    }

    @Test("a host that cannot be reached stops neither device pushes nor the other host, and nothing is lost")
    func unreachable() async throws {
        let closed = try FreePort.several(1)[0]
        let ring = try await Ring("broadcast-unreachable", broadcast: "https://localhost:\(closed)")
        let named = #""channel_id":"\#(Self.channelID)","payload":{}"#
        try ring.client.publish((0..<20).map { (.enveloped("{\(named),\"expiration\":0}"), "lost \($0)") })
        try ring.client.publish((0..<200).map { (.raw(token: .text(Tokens.good)), "push \($0)") })
        for push in 0..<200 { #expect(try ring.client.result("push \(push)").result.outcome == "accepted") }
        #expect(try ring.result(of: #""operation":"list_channels""#, as: "list").0.outcome == "accepted")
        for job in 0..<20 {
            let (result, _) = try ring.result("lost \(job)")
            #expect(result.outcome == "exhausted" && result.action == "replay" && result.reason == "Unreachable")
            #expect(result.status == nil && result.detail?.contains("\(closed)") == true)
        }
        _ = try ring.stack.route("app", of: ring.worker) {
            $0.state == "ready" && $0.reason?.contains("apns.broadcast") == true
        }
        try await ring.stop()
    }

    @Test("a credential refused for broadcasts parks broadcasts alone: one asks, the others wait, devices are served")
    func refusedCredential() async throws {
        let ring = try await Ring("broadcast-credential") { request, before in
            request.line.contains("broadcasts")
                ? .init(status: 403, body: #"{"reason":"InvalidProviderToken"}"#) : Self.apple(request, before)
        }
        let copies = try ring.client.tap("apns.retry.4s")
        let named = #"{"channel_id":"\#(Self.channelID)","payload":{}}"#
        try ring.client.publish(.enveloped(named), as: "first")
        #expect(try ring.client.next("first", from: copies).number("x-apns-attempt") == 1, "no attempt is counted")
        try ring.client.publish((0..<30).map { (.enveloped(named), "later \($0)") })
        for job in 0..<30 {
            #expect(try ring.client.next("later \(job)", from: copies).number("x-apns-attempt") == 1)
        }
        try ring.client.publishGoodJob(as: "push")
        #expect(try ring.client.result("push").result.outcome == "accepted")
        #expect(ring.server.requests.filter { $0.line.contains("broadcasts") }.count < 5)
        _ = try ring.stack.route("app", of: ring.worker) { $0.state == "ready" }
        try await ring.stop()
    }

    @Test("without a host for broadcast channels a job says which setting is missing")
    func notConfigured() async throws {
        let ring = try await Ring("broadcast-nowhere", management: "")
        let (result, _) = try ring.result(of: #""operation":"list_channels""#, as: "nowhere")
        #expect(result.outcome == "rejected" && result.action == "fix_request" && result.reason == "NotConfigured")
        #expect(result.detail?.contains("apns.channels.development") == true)
        _ = try ring.client.next("nowhere", from: "apns.q.dead")
        try await ring.stop()
    }
}
