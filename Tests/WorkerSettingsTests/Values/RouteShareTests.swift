import PushModel
import Testing

@testable import WorkerSettings

@Suite("Which share of the routes a worker is told to serve", .timeLimit(.minutes(1)))
struct RouteShareTests {
    @Test(
        "A share is all, auto, or a worker's number and how many there are",
        arguments: [
            ("all", .all), ("auto", .automatic), ("1/1", .fixed(number: 1, of: 1)), ("2/6", .fixed(number: 2, of: 6)),
            ("1000/1000", .fixed(number: 1_000, of: 1_000)),
        ] as [(String, RouteShare)])
    func read(_ text: String, _ share: RouteShare) throws {
        #expect(try RouteShare(parsing: text) == share)
    }

    @Test(
        "Anything else is refused with what to write",
        arguments: [
            ("", "as in 2/6"), ("ALL", "as in 2/6"), ("2", "as in 2/6"), ("2/", "as in 2/6"), ("/6", "as in 2/6"),
            ("2/6/6", "as in 2/6"), ("+2/6", "as in 2/6"), ("02/6", "as in 2/6"), ("2 / 6", "as in 2/6"),
            ("0/6", "as in 2/6"), ("-1/6", "as in 2/6"), ("2/0", "as in 2/6"), ("２/6", "as in 2/6"),
            ("99999999999999999999/6", "as in 2/6"), ("7/6", "write 1/6 to 6/6"), ("1/1001", "1 to 1000"),
        ])
    func refused(_ text: String, _ advice: String) {
        #expect(throws: Rejection.self) { try RouteShare(parsing: text) }
        do throws(Rejection) {
            _ = try RouteShare(parsing: text)
        } catch {
            #expect(error.message.contains(advice) && error.message.contains("\"\(text)\""))
        }
    }
}
