import LocalStack
import Rig
import TLS

// Certificates that prove nothing, and certificates that change.
extension FaultCatalogue {
    /// Faults of certificates.
    static let certificates = [
        Fault(
            27, name: "certificates and protocols that prove nothing",
            expects: "No login is sent, the log says why; asked again with a pause",
            setup: {
                $0.jobs = 500
                $0.workers = 0
            }
        ) { ring in
            let authority = try CertificateAuthority.create(commonName: "Ours")
            let other = try CertificateAuthority.create(commonName: "Somebody")
            for distrust in Distrust.all {
                let files = FaultCertificates(in: ring.local.directory, name: distrust.name)
                try files.write(
                    issuedBy: distrust.isForeign ? other : authority,
                    clientAuthority: distrust.isStranger ? other : authority, trusted: authority, names: distrust.names,
                    startingIn: distrust.startingIn)
                let port = try await ring.listen(files, options: distrust.options)
                let worker = try ring.startWorker(
                    files.variables(port: port, showsCertificate: distrust.showsCertificate))
                try await ring.awaitRefusals("no connection to the broker", of: worker)
                ring.expect(worker.log.contains(distrust.log), "\(distrust.name): the log does not say \(distrust.log)")
                ring.expect(try !ring.hasAccepted(on: port), "\(distrust.name): the worker spoke AMQP")
                worker.process.signal(15)
                try await ring.retire(worker, endingWith: .exited(0))
            }
            let files = FaultCertificates(in: ring.local.directory, name: "good")
            try files.write(issuedBy: authority)
            let port = try await ring.listen(files)
            try ring.startWorker(files.variables(port: port))
            try await ring.awaitReady()
            ring.expect(try ring.hasAccepted(on: port), "the good listener was not used")
            ring.note("\(Distrust.all.count) ways")
        },
        Fault(
            28, name: "certificates and authority replaced", expects: "New files are used at the next connection",
            isQuick: true, setup: { $0.workers = 0 }
        ) { ring in
            let files = FaultCertificates(in: ring.local.directory, name: "rotated")
            try files.write(issuedBy: try CertificateAuthority.create(commonName: "Old"), client: "worker-old")
            let port = try await ring.listen(files)
            let worker = try ring.startWorker(files.variables(port: port))
            try await ring.until("half of the jobs are with APNs") { ring.pushes >= ring.setup.jobs / 2 }
            ring.expect(try await ring.clients().contains("worker-old"), "the worker shows no certificate")
            try files.write(issuedBy: try CertificateAuthority.create(commonName: "New"), client: "worker-new")
            // The broker keeps what it has read for a while.
            try await ring.evaluate("ssl:clear_pem_cache()")
            try await ring.noteHeld()
            let connects = worker.brokerConnects
            try await ring.control("close_all_connections", "new certificates")
            try await ring.until("the worker connects again") {
                worker.brokerConnects >= connects + 2
            }
            try await ring.awaitReady()
            let clients = try await ring.clients()
            ring.expect(clients.contains("worker-new"), "the worker shows \(clients)")
        },
    ]
}

/// A reason not to trust a broker, or not to be trusted by it.
private struct Distrust: Sendable {
    /// What is wrong, for file names.
    var name: String
    /// A part of what the worker logs about it.
    var log: String
    /// Whether somebody issued the broker's certificate whom the worker does not trust.
    var isForeign = false
    /// Whether somebody issued the worker's certificate whom the broker does not trust.
    var isStranger = false
    /// What the broker is called.
    var names = ["localhost", "127.0.0.1"]
    /// When the broker's certificate becomes valid, in days from now.
    var startingIn = 0
    /// More options of the broker's listener.
    var options = ""
    /// Whether the worker has a certificate.
    var showsCertificate = true

    static let all = [
        Distrust(name: "unknown-authority", log: "unable to get local issuer certificate", isForeign: true),
        Distrust(name: "other-name", log: "hostname mismatch", names: ["elsewhere.example"]),
        Distrust(name: "expired", log: "certificate has expired", startingIn: -10),
        Distrust(name: "not-yet-valid", log: "not yet valid", startingIn: 10),
        Distrust(name: "old-protocol", log: "protocol version", options: ",{versions,['tlsv1']}"),
        Distrust(name: "no-client-certificate", log: "certificate required", showsCertificate: false),
        Distrust(name: "unknown-client", log: "the peer refused our certificate", isStranger: true),
    ]
}

extension FaultRing {
    /// The subjects of the certificates that the broker's clients show.
    fileprivate func clients() async throws -> String {
        try await control("list_connections", "--no-table-headers", "peer_cert_subject")
    }
}
