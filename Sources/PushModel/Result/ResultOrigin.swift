/// What all results of one route on one worker have in common, prepared once.
package struct ResultOrigin: Sendable {
    /// The route's name as a JSON string, or null.
    let route: [UInt8]
    /// The worker's name as a JSON string.
    let worker: [UInt8]
    /// Whether results name the device token; null otherwise.
    let includesDeviceToken: Bool

    /// The origin of results.
    /// - Parameters:
    ///   - route: The route's name; nil for jobs that no route takes.
    ///   - worker: The worker's instance name.
    ///   - includesDeviceToken: Whether results name the device token.
    package init(route: String?, worker: String, includesDeviceToken: Bool = true) {
        self.route = route.map(Self.json) ?? Array("null".utf8)
        self.worker = Self.json(worker)
        self.includesDeviceToken = includesDeviceToken
    }

    private static func json(_ text: String) -> [UInt8] {
        var buffer: [UInt8] = []
        JSONText.append(string: Array(text.utf8).span, to: &buffer)
        return buffer
    }
}
