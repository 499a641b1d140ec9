@testable import APNSClient

/// Hands one value from a helper thread to the test's thread.
// The mailbox's lock orders the maker's last access before the taker's first.
final class Parcel: @unchecked Sendable {
    let result: Result<EstablishedConnection, APNSClientError>
    init(_ result: Result<EstablishedConnection, APNSClientError>) { self.result = result }
}
