import Foundation
import LocalStack

extension FaultRing {
    /// Opens one more listener of the broker, with TLS; clients must show a certificate.
    ///
    /// - Parameters:
    ///   - certificates: The broker's files.
    ///   - options: More options of Erlang's ssl, with a leading comma.
    /// - Returns: Its port.
    func listen(_ certificates: FaultCertificates, options: String = "") async throws -> Int {
        let port = try FreePort.next()
        let files = """
            {cacertfile,"\(certificates.authorityFile)"},{certfile,"\(certificates.certificateFile("server"))"},\
            {keyfile,"\(certificates.keyFile("server"))"}
            """
        try await evaluate(
            """
            begin {ok,_} = application:ensure_all_started(ssl), ok = rabbit_networking:start_ssl_listener(\
            {"127.0.0.1",\(port)}, [\(files),{verify,verify_peer},{fail_if_no_peer_cert,true}\(options)], 1) end
            """)
        return port
    }

    /// Whether the broker has ever let anybody speak AMQP on a port.
    func hasAccepted(on port: Int) throws -> Bool {
        let log = try String(contentsOfFile: broker.logFile, encoding: .utf8)
        return log.split(separator: "\n").contains {
            $0.contains("accepting AMQP connection") && $0.contains("-> 127.0.0.1:\(port))")
        }
    }
}
