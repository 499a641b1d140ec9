import Foundation
import LocalStack
import PushWorker
import TLS
import TestSupport
import Testing

/// A worker with a push certificate, against an HTTP/2 server of somebody else's that demands one.
@Suite("Pushing with a certificate", .serialized, .ownThread, .timeLimit(.minutes(2)))
struct CertificateTests {
    private static let topic = "com.example.app"

    @Test("Jobs are pushed with the certificate and without a provider token; a new certificate needs no restart")
    func pushes() async throws {
        let apple = try AppleStyleCertificates()
        for name in ["push", "next"] { try apple.issue(name) }
        let file = try apple.pack("push", password: "geheim", ["-legacy"])
        let password = try apple.directory.write("geheim\n", to: "password")
        let certificates = try DemoCertificates(in: apple.directory)
        let token = String(decoding: Tokens.good, as: UTF8.self)
        let port = try FreePort.next()
        let log = apple.directory.file("pushes.log")
        let configuration = try apple.directory.write(
            Self.nginx(port: port, root: apple.directory.path, log: log, certificates), to: "nginx.conf")
        let server = try ChildProcess.start(
            "/usr/sbin/nginx",
            ["-p", apple.directory.path, "-c", configuration, "-e", apple.directory.file("nginx.log")])
        defer { server.terminate(grace: .zero) }
        try server.awaitListening(on: port)
        let address = "https://localhost:\(port)"
        let stack = try await BrokerStack.start(
            "certificate",
            apps: [BrokerStack.App(route: "app", topic: Self.topic, credential: "cert")],
            apns: """
                { production: "\(address)", development: "\(address)", trust_file: "\(certificates.authorityFile)" }
                """,
            credentials: """
                  - { name: cert, kind: certificate, file: "\(file)", password_file: "\(password)" }
                """)
        let client = try JobClient(stack)
        defer { client.close() }
        let worker = try stack.startWorker()
        for number in 0..<20 {
            try client.publishGoodJob(as: "first \(number)")
            #expect(try client.result("first \(number)").result.outcome == "accepted")
        }
        let status = try #require(worker.worker.credentialStatuses().first { $0.name == "cert" })
        #expect(status.version == 1 && (status.notAfter ?? 0) > 0)

        _ = try apple.pack("next", password: "geheim")
        try #require(Foundation.rename(apple.directory.file("next.p12"), file) == 0)
        worker.worker.reload(stack.configuration)
        // Nothing is sent: the new certificate is used once its connection works, and waits for the first answer.
        let tried = try stack.route("app", of: worker) { $0.credentialVersion == 2 }
        #expect(tried.reason?.contains("the next push shows whether APNs accepts the new version") == true)
        #expect(tried.state == "ready")
        try client.publishGoodJob(as: "last")
        #expect(try client.result("last").result.outcome == "accepted")
        _ = try stack.route("app", of: worker) { $0.reason == nil }
        try await worker.stop()
        server.terminate()
        let heard = try String(contentsOfFile: log, encoding: .utf8)
        #expect(heard.contains("/3/device/\(token) authorization=- topic=\(Self.topic)"))
        #expect(!heard.contains("authorization=bearer"))
    }

    /// A server that answers only those with a certificate, and signs its answers as APNs does.
    private static func nginx(port: Int, root: String, log: String, _ certificates: DemoCertificates) -> String {
        """
        worker_processes 1; daemon off; master_process off; pid \(root)/nginx.pid;
        events { worker_connections 64; }
        http {
          log_format push '$request_uri authorization=$http_authorization topic=$http_apns_topic';
          access_log \(log) push; client_body_temp_path \(root)/body; proxy_temp_path \(root)/proxy;
          fastcgi_temp_path \(root)/fastcgi; uwsgi_temp_path \(root)/uwsgi; scgi_temp_path \(root)/scgi;
          server {
            listen 127.0.0.1:\(port) ssl http2; ssl_verify_client optional_no_ca;
            ssl_certificate \(certificates.certificateFile); ssl_certificate_key \(certificates.keyFile);
            location / {
              add_header apns-id $http_apns_id always;
              if ($ssl_client_s_dn = "") { return 403; }
              return 200;
            }
          }
        }

        """
    }
}
