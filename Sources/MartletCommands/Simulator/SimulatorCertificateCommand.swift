import APNSSimulator
import ArgumentParser
import Glibc

/// `martlet simulator certificate`: issues a provider certificate that the simulator trusts.
struct SimulatorCertificateCommand: ParsableCommand {
    /// How the command presents itself.
    static let configuration = CommandConfiguration(
        commandName: "certificate",
        abstract:
            "Issue a provider certificate in the form of Apple's, for the simulator with the same --state-directory.",
        usage: """
            martlet simulator certificate --topic com.example.app --out push.pem
            martlet simulator certificate --topic com.example.app --topic com.example.app.voip --out push.pem
            """,
        discussion: """
            The file gets the certificate and, below it, the private key; its serial number is printed, by which the \
            admin API revokes it: POST /certificates/SERIAL/revoke. For a PKCS#12 file:

            openssl pkcs12 -export -in push.pem -out push.p12

            Exit codes: 0 written, 66 file or directory unusable, 77 cannot be issued, 78 bad option.
            """)

    @Option(help: "A topic; the first is the subject's, and several are listed as Apple lists them. Repeatable.")
    var topic: [String]

    @Option(help: "The file to write, readable by its owner only.")
    var out: String

    @Option(help: "The only environment it is for: development or production. (default: both)")
    var only: ServiceEnvironment?

    @Option(help: "How many days it is good for; 0 for an expired one.")
    var days = 365

    /// The command above this one. Its option `--state-directory` counts, before or after the word `certificate`.
    @ParentCommand var simulator: SimulatorCommand

    /// Issues the certificate, writes it with its key, and prints its serial number.
    func run() throws {
        do throws(SimulatorError) {
            // It starts one second in the past, so that a certificate of 0 days has already expired.
            let request = ProviderCertificateRequest(
                topics: topic, environments: only.map { [$0] } ?? [], days: days, startsIn: -1)
            let issued = try ProviderCertificates.issue(
                request, stateDirectory: simulator.stateDirectory ?? SimulatorCommand.defaultStateDirectory)
            try write(issued.certificatePEM + issued.keyPEM)
            Console.data(issued.serialNumber)
        } catch {
            SimulatorCommand.say(error.message)
            throw ExitCode(SimulatorCommand.exitCode(of: error))
        }
    }

    private func write(_ bytes: [UInt8]) throws(SimulatorError) {
        // Created with its final mode, so that others can at no moment read the key.
        let descriptor = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SimulatorError(.file, "cannot write \(out)") }
        defer { close(descriptor) }
        guard bytes.withUnsafeBytes({ Glibc.write(descriptor, $0.baseAddress, $0.count) }) == bytes.count else {
            throw SimulatorError(.file, "cannot write all of \(out)")
        }
    }
}
