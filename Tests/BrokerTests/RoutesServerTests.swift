import Foundation
import LocalStack
import Logging
import PushWorker
import RabbitMQ
import TLS
import Testing
import WorkerSettings

@Suite("Servers and tools of other makers", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct RoutesServerTests {
    /// nghttpd and nginx, which answer 200 for one device token. Only nginx can be told to sign its answers, as APNs does.
    final class Servers: Sendable {
        let nghttpdPort: Int
        let nginxPort: Int
        let authorityFile: String
        private let directory: TemporaryDirectory
        private let processes: [ChildProcess]

        init(token: String) throws {
            directory = try TemporaryDirectory(prefix: "martlet-servers")
            let authority = try CertificateAuthority.create(commonName: "Ring authority")
            let issued = try authority.issue(commonName: "localhost", names: ["localhost", "127.0.0.1"], days: 1)
            authorityFile = try directory.write(authority.certificatePEM, to: "ca.pem")
            let certificate = try directory.write(issued.certificatePEM, to: "cert.pem")
            let key = try directory.write(issued.keyPEM, to: "key.pem")
            let ports = try FreePort.several(2)
            (nghttpdPort, nginxPort) = (ports[0], ports[1])
            for name in ["htdocs", "htdocs/3", "htdocs/3/device"] { try directory.makeDirectory(name) }
            try directory.write("", to: "htdocs/3/device/\(token)")
            let configuration = try directory.write(
                Self.nginx(port: nginxPort, root: directory.path, certificate: certificate, key: key),
                to: "nginx.conf")
            let log = ChildProcess.Stream.file(directory.file("servers.log"))
            processes = [
                try ChildProcess.start(
                    "nghttpd", ["-a", "127.0.0.1", "-d", directory.file("htdocs"), "\(nghttpdPort)", key, certificate],
                    environment: Self.environment, output: log, error: log),
                try ChildProcess.start(
                    "nginx", ["-p", directory.path, "-c", configuration, "-e", directory.file("nginx.log")],
                    environment: Self.environment, output: log, error: log),
            ]
        }

        /// Servers lie in a directory that users do not always search.
        private static let environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]

        /// nginx refuses to POST to a file with 405, which then becomes the file itself.
        private static func nginx(port: Int, root: String, certificate: String, key: String) -> String {
            """
            worker_processes 1; daemon off; master_process off; pid \(root)/nginx.pid;
            events { worker_connections 64; }
            http {
              access_log off; client_body_temp_path \(root)/body; proxy_temp_path \(root)/proxy;
              fastcgi_temp_path \(root)/fastcgi; uwsgi_temp_path \(root)/uwsgi; scgi_temp_path \(root)/scgi;
              server {
                listen 127.0.0.1:\(port) ssl http2; ssl_certificate \(certificate); ssl_certificate_key \(key);
                root \(root)/htdocs; error_page 405 =200 $uri; add_header apns-id $http_apns_id always;
              }
            }

            """
        }

        func stop() {
            for process in processes { process.terminate(grace: .seconds(2)) }
        }
    }

    @Test("nginx takes pushes of a worker; of what nghttpd took nobody knows, because it does not sign its answers")
    func servers() async throws {
        let token = String(decoding: Tokens.good, as: UTF8.self)
        let servers = try Servers(token: token)
        defer { servers.stop() }
        let stack = try await BrokerStack.start(
            "servers",
            apps: [
                BrokerStack.App(route: "nghttpd", topic: "com.example.app", environment: "production"),
                BrokerStack.App(route: "nginx", topic: "com.example.app", environment: "development"),
            ],
            apns: """
                { production: "https://localhost:\(servers.nghttpdPort)", \
                development: "https://localhost:\(servers.nginxPort)", trust_file: "\(servers.authorityFile)" }
                """)
        let client = try JobClient(stack)
        defer { client.close() }
        let worker = try stack.startWorker()
        // A worker does not go on for long with a server that signs nothing.
        for (route, environment, count) in [("nginx", "development", 300), ("nghttpd", "production", 2)] {
            let job = TestJob.raw(token: .text(token), headers: [("x-apns-on-unknown", .text("report"))])
                .keyed("\(environment).normal.com.example.app")
            try client.publish((0..<count).map { (job, "\(environment) \($0)") })
            let results = try (0..<count).map { try client.result("\(environment) \($0)").result }
            let isSigned = route == "nginx"
            let why = "\(route): \(results.compactMap(\.detail).first ?? "")"
            #expect(Set(results.map(\.outcome)) == [isSigned ? "accepted" : "unknown"], "\(why)")
            #expect(Set(results.map(\.route)) == [route])
            if isSigned { continue }
            for number in 0..<count { _ = try client.next("\(environment) \(number)", from: "apns.q.dead") }
        }
        #expect(try stack.leftovers() == [:])
        try client.expectNothing(in: "apns.q.dead")
        try await worker.stop()
    }

    @Test("promtool reads the metrics of a worker that has worked, and finds no fault with them")
    func metrics() async throws {
        let stack = try await BrokerStack.start("metrics")
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let worker = try LiveWorker(stack.configuration) { worker in
            [
                AdminServer(
                    listen: ListenAddress(host: "127.0.0.1", port: 0), source: worker,
                    metrics: WorkerMetrics(
                        build: [("version", "test")],
                        tiers: ["2s", "4s"]),
                    heartbeat: .seconds(15), logger: Logger(label: "ring") { _ in SwiftLogNoOpLogHandler() },
                    started: { listening.yield($0) })
            ]
        }
        var iterator = ports.makeAsyncIterator()
        let port = try #require(await iterator.next())
        let client = try JobClient(stack)
        defer { client.close() }
        try client.publishGoodJob(as: "good")
        try client.publish(.raw(token: nil), as: "bad")
        #expect(try client.result("good").result.outcome == "accepted")
        #expect(try client.result("bad").result.outcome == "invalid")

        let address = "http://127.0.0.1:\(port)"
        let counts = ["accepted", "invalid"].map { #"outcome="\#($0)"} 1"# }
        let text = try Self.fetch("\(address)/metrics") { text in counts.allSatisfy(text.contains) }
        for count in counts { #expect(text.contains(count)) }
        #expect(!text.contains(String(decoding: Tokens.good, as: UTF8.self)))
        let verdict = try ChildProcess.run("promtool", ["check", "metrics"], input: Array(text.utf8))
        #expect(verdict.status == 0, "\(verdict.text)\(verdict.errorText)")
        #expect(verdict.text + verdict.errorText == "")
        let ready = try Self.fetch("\(address)/readyz") { $0.contains(#""ready":true"#) }
        #expect(ready.contains(#""ready":true"#), "\(ready)")
        try await worker.stop()
    }

    /// Asks the admin server until an answer is as wanted: a lane leaves a new picture of itself every quarter of a
    /// second, and an answer may come before it.
    private static func fetch(_ address: String, until isWanted: (String) -> Bool) throws -> String {
        let deadline = ContinuousClock.now.advanced(by: .seconds(20))
        while true {
            let text = try ChildProcess.run("curl", ["-sS", address]).text
            if isWanted(text) || ContinuousClock.now > deadline { return text }
        }
    }
}
