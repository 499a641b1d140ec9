package import Foundation
package import FoundationNetworking

/// Requests over HTTP to servers beside the way of a job: the management API, and a collector of traces.
///
/// TLS is verified with the system's authorities. Redirections are not followed. Nothing is written to disk.
package struct WebSession: Sendable {
    /// Why there was no answer.
    package struct Failure: Error {
        /// The reason in words.
        package let reason: String
        /// Whether the server asked for another login: Foundation reports a rejected challenge as a cancelled request.
        package let isLoginRefused: Bool
    }

    private let session: URLSession
    private let limit: Double?

    /// Prepares requests; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - timeout: How long a server may be silent during a request, in seconds.
    ///   - limit: How long a request may take in all, in seconds; nil for no limit.
    package init(timeout: Double, limit: Double? = nil) {
        self.limit = limit
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
            let (data, response) = try await data(for: request)
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

    /// Sends one request, and ends it when its time is up.
    private func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        guard let limit else { return try await session.data(for: request) }
        return try await withThrowingTaskGroup(of: (Data, URLResponse).self) { group in
            group.addTask { [session] in try await session.data(for: request) }
            group.addTask {
                try await Task.sleep(for: .seconds(limit))
                throw Failure(reason: "no whole answer within \(Int(limit)) s", isLoginRefused: false)
            }
            defer { group.cancelAll() }
            guard let answer = try await group.next() else { throw CancellationError() }
            return answer
        }
    }
}

/// Follows no redirection, because nobody configured the other server.
///
/// Rejects the challenge of an answer 401. Otherwise the request would wait for ever. The login was sent with the
/// request, and there is no other.
private final class RefusalDelegate: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.rejectProtectionSpace, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
