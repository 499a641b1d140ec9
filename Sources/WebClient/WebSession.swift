package import Foundation
package import FoundationNetworking

/// Requests over HTTP to servers beside the way of a job: the management API, and a collector of traces.
///
/// TLS is verified with the system's authorities. Nothing is stored or cached.
package struct WebSession: Sendable {
    /// Why there was no answer.
    package struct Failure: Error {
        /// The reason in words.
        package let reason: String
        /// Whether the server asked for another login: Foundation reports a rejected challenge as a cancelled request.
        package let isLoginRefused: Bool
    }

    private let session: URLSession

    /// Prepares requests; nothing is sent yet.
    ///
    /// - Parameter timeout: How long a server may be silent during a request, in seconds.
    package init(timeout: Double) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = timeout
        session = URLSession(configuration: configuration, delegate: RefusalDelegate(), delegateQueue: nil)
    }

    /// Sends one request.
    ///
    /// - Parameter request: The request, with its login where it has one.
    /// - Returns: The body and the answer.
    /// - Throws: `Failure` without an answer.
    package func answer(to request: URLRequest) async throws(Failure) -> (body: Data, head: HTTPURLResponse) {
        do {
            let (data, response) = try await session.data(for: request)
            guard let head = response as? HTTPURLResponse else {
                throw Failure(reason: "the answer is not one of HTTP", isLoginRefused: false)
            }
            return (data, head)
        } catch let failure as Failure {
            throw failure
        } catch {
            let code = (error as? URLError)?.code
            throw Failure(
                reason: (error as? URLError)?.localizedDescription ?? "\(error)",
                isLoginRefused: code == .cancelled && !Task.isCancelled)
        }
    }
}

/// Rejects the challenge of an answer 401. Otherwise the request would wait for ever. The login was sent with the
/// request, and there is no other.
private final class RefusalDelegate: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.rejectProtectionSpace, nil)
    }
}
