package import PushModel

/// The HTTP proxy on the way to APNs, from `apns.proxy` or, where that is not set, from the environment.
package struct ProxyConfiguration: Sendable, Equatable {
    /// `http://[user:password@]host:port`. Secret, because it may carry a password.
    package var address: SecretText
    /// Hosts reached without it, as `NO_PROXY` lists them; nil where `apns.proxy` named the proxy, which is for all.
    package var exceptions: String?
}
