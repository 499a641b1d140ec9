/// Everything that parses bytes which somebody else wrote, one case each.
///
/// Whatever the bytes are, a target returns: a trap, a hang or a report of the sanitizer is a fault. The kept inputs
/// lie in `Tests/FuzzTests/Corpus`, in a directory named like the case; every test run tries them all, and `make fuzz`
/// looks for new ones.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// A server's half of an HTTP/2 connection on which three pushes are open.
    case apnsConnection = "apns-connection"
    /// The body of a refusal or of an answer about broadcast channels, the debug data of GOAWAY, and dates.
    case apnsAnswer = "apns-answer"
    /// The properties and the body of a delivered job.
    case job
    /// The properties and headers of any message.
    case properties
    /// A broker's half of an AMQP connection on which a worker consumes or publishes, with its login or after it.
    case brokerConnection = "broker-connection"
    /// The address of a broker.
    case uri
    /// The management API's answers about what a virtual host holds.
    case management
    /// Another worker's report to its fleet.
    case fleetReport = "fleet-report"
    /// What operators ask of all workers.
    case controlCommand = "control-command"
    /// A message with several results.
    case resultBatch = "result-batch"
    /// A worker's configuration file and environment.
    case configuration
    /// The records of a worker's journal.
    case journal
    /// A proxy's answer to CONNECT.
    case proxy
    /// Keys and certificates in PEM.
    case pem
    /// A PKCS#12 file.
    case pkcs12
    /// The list of topics in a certificate.
    case certificateTopics = "certificate-topics"
    /// A client's half of an HTTP/2 connection to the simulator.
    case gateway
    /// The same for the simulator's thin mode.
    case thinGateway = "thin-gateway"
    /// The `authorization` header of a push to the simulator.
    case providerToken = "provider-token"
    /// What a device, or one that claims to be, sends to its port.
    case deviceFrames = "device-frames"
    /// A device token that may be of the simulator's making.
    case deviceToken = "device-token"
    /// A scenario file.
    case scenario

    /// Lets the parsers have some bytes.
    package func run(_ bytes: [UInt8]) {
        switch self {
        case .apnsConnection: ClientFuzzing.connection(bytes)
        case .apnsAnswer: ClientFuzzing.answer(bytes)
        case .job: BrokerFuzzing.job(bytes)
        case .properties: BrokerFuzzing.properties(bytes)
        case .brokerConnection: BrokerConnectionFuzzing.connection(bytes)
        case .uri: BrokerFuzzing.uri(bytes)
        case .management: WorkerFuzzing.management(bytes)
        case .fleetReport: WorkerFuzzing.fleetReport(bytes)
        case .controlCommand: WorkerFuzzing.controlCommand(bytes)
        case .resultBatch: BrokerFuzzing.resultBatch(bytes)
        case .configuration: WorkerFuzzing.configuration(bytes)
        case .journal: WorkerFuzzing.journal(bytes)
        case .proxy: ClientFuzzing.proxy(bytes)
        case .pem: CredentialFuzzing.pem(bytes)
        case .pkcs12: CredentialFuzzing.pkcs12(bytes)
        case .certificateTopics: CredentialFuzzing.topics(bytes)
        case .gateway: SimulatorFuzzing.gateway(bytes)
        case .thinGateway: SimulatorFuzzing.thinGateway(bytes)
        case .providerToken: SimulatorFuzzing.providerToken(bytes)
        case .deviceFrames: SimulatorFuzzing.deviceFrames(bytes)
        case .deviceToken: SimulatorFuzzing.deviceToken(bytes)
        case .scenario: SimulatorFuzzing.scenario(bytes)
        }
    }
}
