import FoundationEssentials
import Hummingbird
import NIOCore
import Text

/// The part of the admin API that changes the simulator while it runs.
///
/// | request | effect |
/// |---|---|
/// | `GET /clock` | the simulator's time |
/// | `POST /clock` `{"advance":"55m"}` | puts the clock of all rules forward |
/// | `POST /clock` `{"reset":true}` | takes it back to the real time |
/// | `POST /keys/<id>/revoke`, `…/restore` | a provider key is no longer good, or good again |
/// | the same with `{"after":"1h"}` | the revocation takes effect later, by the simulator's clock |
/// | `POST /certificates` `{"topics":["com.example.app"]}` | issues a provider certificate |
/// | `POST /certificates/<serial>/revoke`, `…/restore` | a provider certificate is no longer good, or good again |
/// | `POST /server-certificate` `{"kind":"expired"}` | what clients are shown, by ``ServerCertificateKind`` |
/// | `POST /scenario`, a scenario file | begins another scenario |
/// | `POST /shutdown`, `DELETE /shutdown` | the service goes down, or comes back |
///
/// `POST /certificates` also takes `environments`, `days` and `starts_in`.
extension AdminService {
    /// The largest request body, in bytes.
    static let bodyLimit = 1 << 20

    private struct ClockChange: Decodable {
        var advance: String?
        var reset: Bool?
    }

    private struct Revocation: Decodable {
        var after: String
    }

    private struct Kind: Decodable {
        var kind: String
    }

    private struct Issue: Decodable {
        var topics: [String]
        var environments: [String]?
        var days: Int?
        var startsIn: String?

        enum CodingKeys: String, CodingKey {
            case topics, environments, days
            case startsIn = "starts_in"
        }
    }

    /// Adds the requests that change the simulator.
    ///
    /// - Parameters:
    ///   - control: What they change.
    ///   - router: Where they are added.
    static func addControls(_ control: SimulatorControl, to router: Router<BasicRequestContext>) {
        router.get("/clock") { _, _ in clock(control) }
        router.post("/clock") { request, _ in try await changeClock(request, control) }
        for (word, isRevoked) in [("revoke", true), ("restore", false)] {
            router.post("/keys/:id/\(word)") { request, context in
                guard let delay = try await delay(request) else { return trouble(delayForm) }
                let id = try context.parameters.require("id")
                guard control.setKey(id, isRevoked: isRevoked, after: delay) else {
                    return trouble("no such key is known", status: .notFound)
                }
                return done(word)
            }
            router.post("/certificates/:serial/\(word)") { request, context in
                guard let delay = try await delay(request) else { return trouble(delayForm) }
                let serial = try context.parameters.require("serial")
                guard HexText.isHex(serial.utf8) else { return trouble("a serial number is hexadecimal") }
                control.setCertificate(serial, isRevoked: isRevoked, after: delay)
                return done(word)
            }
        }
        router.post("/certificates") { request, _ in try await issue(request, control) }
        router.post("/server-certificate") { request, _ in
            guard let kind = try await decode(Kind.self, request).flatMap({ ServerCertificateKind(rawValue: $0.kind) })
            else {
                let known = ServerCertificateKind.allCases.map(\.rawValue).joined(separator: ", ")
                return trouble("expected {\"kind\":…} with one of \(known)")
            }
            control.show(kind)
            return done(kind.rawValue)
        }
        router.post("/scenario") { request, _ in
            let text = String(buffer: try await request.body.collect(upTo: bodyLimit))
            do throws(SimulatorError) {
                control.use(try Scenario(yaml: text, name: "scenario"))
            } catch {
                return trouble(error.message)
            }
            return done("scenario")
        }
        router.post("/shutdown") { _, _ in
            control.setShutDown(true)
            return done("shutdown")
        }
        router.delete("/shutdown") { _, _ in
            control.setShutDown(false)
            return done("running")
        }
    }

    private static func changeClock(_ request: Request, _ control: SimulatorControl) async throws -> Response {
        let asked = try await decode(ClockChange.self, request)
        if asked?.reset == true, asked?.advance == nil {
            control.resetClock()
            return clock(control)
        }
        if asked?.advance?.hasPrefix("-") == true { return trouble(noWayBack) }
        guard asked?.reset != true, let milliseconds = asked?.advance.flatMap(DurationText.milliseconds) else {
            return trouble(
                #"expected {"advance":"20m"}, \#(DurationText.form), or {"reset":true} for the real time"#)
        }
        guard control.advanceClock(milliseconds: milliseconds) else {
            return trouble("the clock can be at most ten years ahead of the real time")
        }
        return clock(control)
    }

    private static func issue(_ request: Request, _ control: SimulatorControl) async throws -> Response {
        guard let asked = try await decode(Issue.self, request) else {
            return trouble(#"expected {"topics":["com.example.app"]}, and perhaps environments, days, starts_in"#)
        }
        let environments = (asked.environments ?? []).map(ServiceEnvironment.init(rawValue:))
        guard !environments.contains(nil) else { return trouble("an environment is development or production") }
        let past = asked.startsIn?.hasPrefix("-") ?? false
        let offset = asked.startsIn.map { DurationText.milliseconds(String($0.drop { $0 == "-" })) } ?? 0
        guard let offset else { return trouble("starts_in is a duration such as 10m or -400d") }
        let wanted = ProviderCertificateRequest(
            topics: asked.topics, environments: Set(environments.compactMap { $0 }), days: asked.days ?? 365,
            startsIn: Int(offset / 1000) * (past ? -1 : 1))
        do throws(SimulatorError) {
            let issued = try control.issue(wanted)
            var text: [UInt8] = Array("{\"serial\":\"\(issued.serialNumber)\",\"certificate\":\"".utf8)
            append(issued.certificatePEM, to: &text)
            text.append(contentsOf: "\",\"key\":\"".utf8)
            append(issued.keyPEM, to: &text)
            text.append(contentsOf: "\"}\n".utf8)
            return json(text, status: .created)
        } catch {
            return trouble(error.message)
        }
    }

    private static let noWayBack =
        "the clock goes forward only: what it has written down, such as device tokens, expirations and accounts of "
        + #"token updates, would lie in the future; {"reset":true} takes it to the real time"#

    private static let delayForm = #"expected nothing or {"after":"1h"}: \#(DurationText.form)"#

    /// The time until a revocation takes effect, in milliseconds. 0 for an empty body; nil for an invalid body.
    private static func delay(_ request: Request) async throws -> Int64? {
        let body = try await request.body.collect(upTo: bodyLimit)
        if body.readableBytes == 0 { return 0 }
        let asked = try? JSONDecoder().decode(Revocation.self, from: Data(body.readableBytesView))
        return asked.flatMap { DurationText.milliseconds($0.after) }
    }

    private static func append(_ pem: [UInt8], to text: inout [UInt8]) { JSONEscaping.append(pem, to: &text) }

    private static func decode<Wanted: Decodable>(_ type: Wanted.Type, _ request: Request) async throws -> Wanted? {
        let body = try await request.body.collect(upTo: bodyLimit)
        return try? JSONDecoder().decode(type, from: Data(body.readableBytesView))
    }

    private static func clock(_ control: SimulatorControl) -> Response {
        json(Array("{\"now\":\(control.now),\"advance\":\(control.clockAdvance)}\n".utf8))
    }

    private static func done(_ word: String) -> Response {
        json(Array("{\"done\":\"\(word)\"}\n".utf8))
    }

    /// Makes an answer that tells what went wrong.
    ///
    /// - Parameters:
    ///   - message: What is wrong, and what the client can send instead.
    ///   - status: The status.
    /// - Returns: The answer.
    static func trouble(_ message: String, status: HTTPResponse.Status = .badRequest) -> Response {
        var text: [UInt8] = Array("{\"error\":\"".utf8)
        JSONEscaping.append(message.utf8, to: &text)
        text.append(contentsOf: "\"}\n".utf8)
        return json(text, status: status)
    }
}
