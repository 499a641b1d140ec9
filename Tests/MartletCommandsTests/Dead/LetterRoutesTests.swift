import PushModel
import Testing
import Topology

@testable import MartletCommands

@Suite("Whose job a dead letter was", .timeLimit(.minutes(1)))
struct LetterRoutesTests {
    private static let routes = [
        TopologyRoute(name: "shop", environment: .production, topics: ["com.example.shop"]),
        TopologyRoute(name: "chat", environment: .production, topics: ["com.example.chat"]),
        TopologyRoute(name: "shop-test", environment: .development, topics: ["com.example.shop"]),
    ]

    @Test(
        "The key of the job tells the route, by environment and topic with any suffix",
        arguments: [
            ("production.normal.com.example.shop", ["shop"], true),
            ("production.high.com.example.shop.voip", ["shop"], true),
            ("development.high.com.example.shop", ["shop"], false),
            ("development.high.com.example.shop", ["shop-test"], true),
            ("production.normal.com.example.chat", ["shop"], false),
            ("production.normal.com.example.chat", ["shop", "chat"], true),
            ("production.normal.com.example.shopping", ["shop"], false), ("invalid.-.-", ["shop"], false),
            ("", ["shop"], false),
        ])
    func keys(_ key: String, _ names: [String], _ isTheirs: Bool) throws {
        #expect(try LetterRoutes(names, of: Self.routes).take(jobsOf: key) == isTheirs)
    }

    @Test("A route that the configuration does not have is a mistake, and the failure lists those that it has")
    func unknown() throws {
        let failure = try #require(throws: CommandFailure.self) { try LetterRoutes(["shp"], of: Self.routes) }
        #expect(failure.status == .usage && failure.message.contains("--route shp"))
        #expect(failure.remedy == "Its routes are: shop, chat, shop-test.")
    }
}
