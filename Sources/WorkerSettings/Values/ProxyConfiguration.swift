package import PushModel

/// The HTTP proxy on the way to APNs, from `apns.proxy` or, where that is not set, from the environment.
package struct ProxyConfiguration: Sendable, Equatable {
    /// `http://[user:password@]host:port`. Secret, because it may carry a password.
    package var address: SecretText
    /// The hosts that are reached without the proxy, as `NO_PROXY` lists them. Nil if `apns.proxy` names the proxy: it
    /// is then used for all hosts.
    package var exceptions: String?
}
