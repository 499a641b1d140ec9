package import Foundation
package import FoundationNetworking
import Synchronization

/// Requests over HTTP to servers beside the way of a job: the management API, and a collector of traces.
///
/// TLS is verified with the system's authorities. Redirections are not followed. Nothing is written to disk.
package struct WebSession: Sendable {
    /// Why there was no answer.
    package struct Failure: Error {
        /// What kind of failure it is.
        package enum Kind: Sendable {
            /// There is no answer, or not a whole one.
            case unanswered
            /// The server's certificate could not be verified.
            case unverified
            /// The server asked for another login. Foundation reports a rejected challenge as a cancelled request.
            case loginRefused
            /// The answer's body is longer than the limit.
            case tooLong
        }

        /// The kind.
        package let kind: Kind
        /// The reason in words.
        package let reason: String
    }

    private let session: URLSession
    private let delegate: AnswerDelegate
    private let limit: Double?

    /// Prepares requests; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - timeout: How long a server may be silent during a request, in seconds.
    ///   - limit: How long a request may take in all, in seconds; nil for no limit.
    ///   - longestBody: The longest body of an answer, in bytes. A longer answer is a failure.
    package init(timeout: Double, limit: Double? = nil, longestBody: Int) {
        self.limit = limit
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = timeout
        delegate = AnswerDelegate(longestBody: longestBody)
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
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
                throw Failure(kind: .unanswered, reason: "the answer is not one of HTTP")
            }
            return (data, head)
        } catch let failure as Failure {
            throw failure
        } catch {
            let reason = (error as? URLError)?.localizedDescription ?? "\(error)"
            throw Failure(kind: Self.kind(of: (error as? URLError)?.code, reason), reason: reason)
        }
    }

    /// What kind of failure Foundation reports. Only its text tells a certificate from other troubles of TLS.
    private static func kind(of code: URLError.Code?, _ reason: String) -> Failure.Kind {
        if code == .cancelled, !Task.isCancelled { return .loginRefused }
        return reason.contains("certificate") ? .unverified : .unanswered
    }

    /// Sends one request, and ends it when its time is up.
    private func data(for request: URLRequest) async throws -> (Data, URLResponse?) {
        guard let limit else { return try await whole(request) }
        return try await withThrowingTaskGroup(of: (Data, URLResponse?).self) { group in
            group.addTask { try await whole(request) }
            group.addTask {
                try await Task.sleep(for: .seconds(limit))
                throw Failure(kind: .unanswered, reason: "no whole answer within \(Int(limit)) s")
            }
            defer { group.cancelAll() }
            guard let answer = try await group.next() else { throw CancellationError() }
            return answer
        }
    }

    /// Sends one request, and gathers its answer. A cancelled task ends the request.
    private func whole(_ request: URLRequest) async throws -> (Data, URLResponse?) {
        let task = session.dataTask(with: request)
        var body = Data()
        for try await part in delegate.parts(of: task) { body.append(part) }
        // A cancelled task sees the end of the parts, as if the answer were whole.
        try Task.checkCancellation()
        return (body, task.response)
    }
}

/// Passes on the answers of a session, part by part, up to a limit.
///
/// Follows no redirection, because nobody configured the other server.
///
/// Rejects the challenge of an answer 401. Otherwise the request would wait for ever. The login was sent with the
/// request, and there is no other.
private final class AnswerDelegate: NSObject, URLSessionDataDelegate, Sendable {
    /// An answer that arrives.
    private struct Arriving {
        let parts: AsyncThrowingStream<Data, any Error>.Continuation
        /// How many bytes more its body may have.
        var room: Int
    }

    private let longestBody: Int
    /// Answers that are not whole yet, by the identifier of their task.
    private let arriving = Mutex<[Int: Arriving]>([:])

    /// A delegate without requests.
    ///
    /// - Parameter longestBody: The longest body of an answer, in bytes.
    init(longestBody: Int) { self.longestBody = longestBody }

    /// Starts a task. Whoever no longer reads the parts ends it.
    ///
    /// - Returns: The parts of the answer's body. They end with the error of the task, or with a `WebSession.Failure`
    ///   where the body is too long.
    func parts(of task: URLSessionDataTask) -> AsyncThrowingStream<Data, any Error> {
        let (parts, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
        continuation.onTermination = { if case .cancelled = $0 { task.cancel() } }
        arriving.withLock { $0[task.taskIdentifier] = Arriving(parts: continuation, room: longestBody) }
        task.resume()
        return parts
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let answer = arriving.withLock { arriving in
            arriving[dataTask.taskIdentifier]?.room -= data.count
            return arriving[dataTask.taskIdentifier]
        }
        guard let answer else { return }
        if answer.room >= 0 {
            answer.parts.yield(data)
        } else {
            answer.parts.finish(
                throwing: WebSession.Failure(kind: .tooLong, reason: "the answer is longer than \(longestBody) bytes"))
            dataTask.cancel()
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        arriving.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.parts.finish(throwing: error)
    }

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
