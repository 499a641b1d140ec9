package import EventLoop
package import PushModel
package struct APNSEndpoint: Hashable, Sendable { package var host: String; package var port: Int
 package static func parse(_ url: String) throws(APNSClientError) -> APNSEndpoint { throw APNSClientError(.unreachable, "") } }
package struct APNSClientError: Error, Sendable { package struct Code: Sendable { package static let unreachable = Code() }
 package var message: String; package init(_ c: Code, _ m: String) { message = m } }
package import TLS
package final class ConnectRateLimiter: Sendable { package init() {} }
package final class ProviderTokenSource: Sendable { package init(keyID: String, teamID: String, key: ES256PrivateKey) {} }
package final class APNSConnector: Sendable { package let endpoint: APNSEndpoint; package init(endpoint: APNSEndpoint, trust: TLSContext, limiter: ConnectRateLimiter) { self.endpoint = endpoint } 
  package func result(of: ConnectRequest) -> Result<EstablishedConnection, APNSClientError> { .failure(APNSClientError(.unreachable, "")) } }
package final class EstablishedConnection {}
package struct ConnectRequest: Sendable {}
package enum UnansweredCause: Sendable { case deadline; package var description: String { "" } }
package struct APNSResponse: Sendable { package var answer: Answer; package var microseconds: Int64; package var apnsUniqueID: [UInt8]? }
package enum PushAnswer: Sendable { case response(APNSResponse), unprocessed, unanswered(UnansweredCause) }
package protocol APNSPoolDelegate: AnyObject {
 func pool(_ pool: APNSPool, tag: Int, answered: consuming PushAnswer, now: MonotonicTime)
 func poolNeedsConnection(_ pool: APNSPool, request: ConnectRequest)
 func poolCapacityChanged(_ pool: APNSPool) }
package struct APNSPoolConfiguration: Sendable { package init(requestTimeout: Duration, connections: Int?) {} }
package final class APNSPool {
 package init(configuration: APNSPoolConfiguration, loop: EventLoop, endpoint: APNSEndpoint, tokens: ProviderTokenSource?, delegate: any APNSPoolDelegate) {}
 package var capacity: Int { 0 }
 package var streamLimit: Int { 0 }
 package var isConnected: Bool { false }
 package func submit(_ job: borrowing Job, index: Int, tag: Int, now: MonotonicTime) -> Bool { false }
 package func flush(now: MonotonicTime) {}
 package func adopt(_ c: EstablishedConnection, for: ConnectRequest, now: MonotonicTime) {}
 package func connectFailed(_ e: APNSClientError, for: ConnectRequest, now: MonotonicTime) {}
 package func close() {}
}
