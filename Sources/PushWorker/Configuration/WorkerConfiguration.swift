internal import APNSClient
internal import EventLoop
package import Logging
package import PushModel

/// Everything a worker is told at start: the file, overlaid by the environment, over the defaults.
///
/// Made by ``ConfigurationLoader``, which has checked each value; nothing here needs checking again.
package struct WorkerConfiguration: Sendable {
    /// The name of this worker in results and logs; never empty.
    package var instance: String
    /// How the broker is reached.
    package var broker: BrokerConfiguration
    /// How APNs is reached.
    package var apns: APNSConfiguration
    /// The credentials that routes name.
    package var credentials: [CredentialConfiguration]
    /// The routes, in the order of the file; at least one.
    package var routes: [RouteConfiguration]
    /// Which of the routes this worker serves.
    package var share: RouteShare
    /// How many operating-system threads push.
    package var lanes: AutomaticOr<Int>
    /// How many unacknowledged jobs the broker may hand out per queue of a route and lane.
    package var prefetch: AutomaticOr<Int>
    /// How many bytes of jobs, headers and bodies, the worker may hold on all routes and lanes.
    package var jobMemory: Int
    /// When and how often a notification is tried again.
    package var retry: RetryConfiguration
    /// What results look like.
    package var results: ResultConfiguration
    /// The POSIX extended regular expression that a job's `reply_to` must match; ``ReplyPattern`` compiles it.
    package var repliesAllow: String
    /// The directory in which accepted notifications are noted; nil for no journal.
    package var journal: String?
    /// Where the admin server listens; nil when it is switched off.
    package var adminListen: ListenAddress?
    /// The file whose first line is the admin server's bearer token; nil for none.
    package var adminTokenFile: String?
    /// Whether metrics have all their details for each route.
    package var metricsDetail: Bool
    /// What is logged, and how.
    package var log: LogConfiguration
    /// How long a stopping worker may take to finish what is in flight.
    package var shutdownGrace: Duration
}

/// A number, or the wish to have it worked out from the machine and the peers.
package enum AutomaticOr<Value: Sendable & Equatable>: Sendable, Equatable {
    /// Worked out at run time.
    case automatic
    /// As written.
    case fixed(Value)
}

/// The `broker` section.
package struct BrokerConfiguration: Sendable {
    /// AMQP URIs to try in random order; at least one. Secret, because they carry passwords.
    package var uris: [SecretText]
    /// The file that ``uris`` were read from, which is read again for each connection; nil where they stand elsewhere.
    package var uriFile: String?
    /// The file whose first line is the password, read again for each connection; it wins over one in ``uris``.
    package var passwordFile: String?
    /// Whether logins and messages may leave this machine unencrypted.
    package var allowsPlaintext = false
    /// The management API, as `http(s)://user:password@host:port`; only `martlet topology` uses it.
    package var management: SecretText?
    /// The heartbeat asked of the broker, in whole seconds.
    package var heartbeat: Duration
    /// Files for `amqps`.
    package var tls: BrokerTLSConfiguration
}

/// The `broker.tls` section; paths are absolute or relative to the working directory, and readable at start.
package struct BrokerTLSConfiguration: Sendable, Equatable {
    /// Certificates that may vouch for the broker, PEM; nil for the system's.
    package var caFile: String?
    /// The client certificate, PEM; only together with ``keyFile``.
    package var certFile: String?
    /// The client certificate's key, PEM.
    package var keyFile: String?
}

/// The `apns` section.
package struct APNSConfiguration: Sendable, Equatable {
    /// The address of production, `https://host:port`.
    package var production: String
    /// The address of development (Apple's sandbox), `https://host:port`.
    package var development: String
    /// More certificates that may vouch for APNs, PEM: for a simulator or a proxy.
    package var trustFile: String?
    /// How long a request may stay without an answer.
    package var requestTimeout: Duration
    /// After how much silence a connection is asked whether it lives.
    package var pingInterval: Duration = .seconds(3_600)
    /// After how long without a push a route's connections to devices are closed.
    package var idle: Duration = OnDemandStateMachine.idleTimeOfDevices
    /// How many connections to one host the worker opens in a second, once its burst is used up.
    package var connectRate = ConnectRateLimiter.defaultRate
    /// How many connections to one host the worker opens at once.
    package var connectBurst = ConnectRateLimiter.defaultBurst
    /// The HTTP proxy on the way to APNs; nil for a direct one.
    package var proxy: ProxyConfiguration?
    /// Where broadcasts to channels go, where that is not the address of the environment.
    package var broadcast = APNSAddresses()
    /// Where channels are managed; without an address where the environment's is not Apple's and none is given here.
    package var channels = APNSAddresses()

    /// The address for an environment.
    package func address(of environment: APNSEnvironment) -> String {
        switch environment {
        case .production: production
        case .development: development
        }
    }
}

/// The HTTP proxy on the way to APNs, from `apns.proxy` or, where that is not set, from the environment.
package struct ProxyConfiguration: Sendable, Equatable {
    /// `http://[user:password@]host:port`. Secret, because it may carry a password.
    package var address: SecretText
    /// Hosts reached without it, as `NO_PROXY` lists them; nil where `apns.proxy` named the proxy, which is for all.
    package var exceptions: String?
}

/// An address for each environment, as far as there is one.
package struct APNSAddresses: Sendable, Equatable {
    /// The address of production, `https://host:port`.
    package var production: String?
    /// The address of development (Apple's sandbox), `https://host:port`.
    package var development: String?

    /// The address for an environment.
    package func address(of environment: APNSEnvironment) -> String? {
        switch environment {
        case .production: production
        case .development: development
        }
    }
}

/// One entry of `credentials`.
package enum CredentialConfiguration: Sendable, Equatable {
    /// A provider token key.
    case token(TokenCredentialConfiguration)
    /// A client certificate.
    case certificate(CertificateCredentialConfiguration)

    /// The name that routes use.
    package var name: String {
        switch self {
        case .token(let credential): credential.name
        case .certificate(let credential): credential.name
        }
    }

    /// The files it is read from.
    var files: [String] {
        switch self {
        case .token(let credential): [credential.keyFile]
        case .certificate(let credential):
            switch credential.source {
            case .pkcs12(let file, let passwordFile): [file] + (passwordFile.map { [$0] } ?? [])
            case .pem(let certificateFile, let keyFile): [certificateFile, keyFile]
            }
        }
    }
}

/// A client certificate with its key.
///
/// See Apple, "Establishing a certificate-based connection":
/// <https://developer.apple.com/documentation/usernotifications/establishing-a-certificate-based-connection-to-apns>
package struct CertificateCredentialConfiguration: Sendable, Equatable {
    /// Where certificate and key are; the paths are readable at start.
    package enum Source: Sendable, Equatable {
        /// A PKCS#12 file, and the file with its password; nil for none.
        case pkcs12(file: String, passwordFile: String?)
        /// Two PEM files, which may be the same.
        case pem(certificateFile: String, keyFile: String)
    }

    /// The name that routes use.
    package var name: String
    /// Where certificate and key are.
    package var source: Source
}

/// A provider token key (`.p8`) and whose it is.
///
/// See Apple, "Establishing a token-based connection":
/// <https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns>
package struct TokenCredentialConfiguration: Sendable, Equatable {
    /// The name that routes use.
    package var name: String
    /// The path of the `.p8` file, readable at start.
    package var keyFile: String
    /// Apple's ten-character key identifier.
    package var keyID: String
    /// Apple's ten-character team identifier.
    package var teamID: String
}

/// One entry of `routes`.
package struct RouteConfiguration: Sendable, Equatable {
    /// The name: `[a-z0-9-]{1,40}`, part of queue names.
    package var name: String
    /// Which APNs its tokens belong to.
    package var environment: APNSEnvironment
    /// The bundle identifiers it pushes for, each with all of ``TopicSuffix/all``.
    package var topics: [String]
    /// The name of its credential.
    package var credential: String
    /// How many connections a worker may open for it.
    package var connections: AutomaticOr<Int>
    /// On how many lanes it lives.
    package var lanes = AutomaticOr<Int>.automatic
    /// Whether `high` jobs have a queue of their own.
    package var highLane: Bool
    /// The most notifications per second that one worker may send; nil for no limit.
    package var rate: Double?
    /// Whether requests leave out the topic, which the certificate names already.
    package var omitTopic = false
    /// The queue that `martlet topology` makes for a copy of its results; nil for none.
    package var resultsQueue: String?
}

/// The `retry` section.
package struct RetryConfiguration: Sendable, Equatable {
    /// The delays for which the broker has a queue, ascending.
    package var tiers: [Duration]
    /// The most attempts per notification.
    package var maxAttempts: Int
    /// The most time between the first attempt and the last.
    package var maxAge: Duration
}

/// The `results` section.
package struct ResultConfiguration: Sendable, Equatable {
    /// How a result names the device.
    package enum DeviceToken: String, Sendable, CaseIterable {
        /// The whole token.
        case full
        /// Not at all.
        case omit
    }

    /// Results per message; always 1 in this version.
    package var batch: Int
    /// How a result names the device.
    package var deviceToken: DeviceToken
    /// Over how many queues results are dealt out, those of one job into one; at least 1.
    package var queues = 1
}

/// The `log` section.
package struct LogConfiguration: Sendable, Equatable {
    /// The least level that is written.
    package var level: Logger.Level
    /// How a line looks.
    package var format: LogFormat
}

/// Where a server listens.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// A host name or an IP address, without brackets.
    package var host: String
    /// The port; 0 lets the system choose.
    package var port: Int

    /// Whether only this machine can reach it.
    package var isLoopback: Bool { SocketAddress.isLoopback(host: host) }

    /// Makes an address from its parts.
    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// `host:port`, an IPv6 address in brackets.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
