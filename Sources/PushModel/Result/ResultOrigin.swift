import Text

/// What all results of one route on one worker have in common, prepared once.
package struct ResultOrigin: Sendable {
    /// The route's name as a JSON string, or null.
    let route: [UInt8]
    /// The worker's name as a JSON string.
    let worker: [UInt8]
    /// Whether results name the device token. If not, the field is null.
    let includesDeviceToken: Bool

    /// The origin of results.
    ///
    /// - Parameters:
    ///   - route: The route's name; nil for jobs that no route takes.
    ///   - worker: The worker's instance name.
    ///   - includesDeviceToken: Whether results name the device token.
    package init(route: String?, worker: String, includesDeviceToken: Bool = true) {
        self.route = Array((route.map(JSONEscaping.quoted) ?? "null").utf8)
        self.worker = Array(JSONEscaping.quoted(worker).utf8)
        self.includesDeviceToken = includesDeviceToken
    }
}
