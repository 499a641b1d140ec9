import LocalStack
import TestSupport

@testable import APNSClient

/// tinyproxy, as Debian ships it, with a user and a password.
final class Tinyproxy {
    /// Where it listens.
    let port: Int
    private let directory: TemporaryDirectory
    private let process: ChildProcess

    /// Starts it.
    ///
    /// - Parameter allowed: The one port that tunnels may lead to.
    init(allowing allowed: Int) throws {
        directory = try TemporaryDirectory(prefix: "martlet-proxy")
        port = try FreePort.next()
        let file = try directory.write(
            """
            Port \(port)
            Listen 127.0.0.1
            Timeout 60
            MaxClients 20
            BasicAuth martlet open-sesame
            ConnectPort \(allowed)

            """, to: "tinyproxy.conf")
        process = try ChildProcess.start(
            "tinyproxy", ["-d", "-c", file], environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
        try process.awaitListening(on: port)
    }

    /// The address with the right user and password.
    func address(_ userInformation: String = "martlet:open-sesame@") throws -> HTTPProxy {
        try HTTPProxy.parse("http://\(userInformation)127.0.0.1:\(port)")
    }
}
