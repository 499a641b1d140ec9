import APNSSimulator
import Foundation
import FoundationNetworking

/// Sends a device's tokens to its app's provider, as an app does when it gets a token. Safe from any thread.
final class DeviceRegistration: Sendable {
    /// How long a provider may take for its answer, in seconds.
    static let patience = 10.0

    /// The message to a provider.
    struct Message: Encodable {
        /// The device token in hexadecimal digits.
        var token: String
        /// The topic to push to.
        var topic: String
        /// `development` or `production`.
        var environment: String
    }

    private let provider: URL
    private let place: String
    private let session: URLSession

    /// Makes the connection to a provider; nothing is sent yet.
    ///
    /// - Parameter provider: An address as ``address(_:)`` reads it.
    init(_ provider: URL) {
        self.provider = provider
        // Without a login or a query, which may hold secrets.
        let port = provider.port.map { ":\($0)" } ?? ""
        place = "\(provider.scheme ?? "")://\(provider.host ?? "")\(port)\(provider.path)"
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = Self.patience
        session = URLSession(configuration: configuration)
    }

    /// Reads the address of a provider.
    ///
    /// - Parameter text: An http or https URL with a host.
    /// - Returns: The address; nil for anything else.
    static func address(_ text: String) -> URL? {
        guard let url = URL(string: text), url.scheme == "http" || url.scheme == "https", url.host?.isEmpty == false
        else { return nil }
        return url
    }

    /// Sends a token.
    ///
    /// - Parameters:
    ///   - message: The message to the provider.
    ///   - report: Called once, on any thread, with the provider's answer or what went wrong.
    func send(_ message: Message, report: @escaping @Sendable (DeviceEvent) -> Void) {
        var request = URLRequest(url: provider)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        // Text is always encodable.
        request.httpBody = try? JSONEncoder().encode(message)
        let (place, topic) = (place, message.topic)
        session.dataTask(with: request) { _, response, error in
            guard let response = response as? HTTPURLResponse else {
                let reason = error?.localizedDescription ?? "no answer"
                return report(
                    .trouble(
                        "the provider at \(place) cannot be reached: \(reason); the token of \(topic) is sent again "
                            + "when the device comes online"))
            }
            let status = response.statusCode
            let isGood = (200...299).contains(status)
            report(
                isGood
                    ? .done("the provider at \(place) has the token of \(topic)")
                    : .trouble("the provider at \(place) answered \(status) to the token of \(topic), not 200 to 299"))
        }.resume()
    }
}
