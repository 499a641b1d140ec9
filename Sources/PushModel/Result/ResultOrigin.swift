/// What all results of one route on one worker have in common, prepared once.
package struct ResultOrigin: Sendable {
    /// `"route":"…"` and what follows it up to the attempt's number.
    let routeFragment: [UInt8]
    /// `"worker":"…"}`.
    let workerFragment: [UInt8]
    /// Whether results name the device token; null otherwise.
    let includesDeviceToken: Bool

    /// The origin of results.
    /// - Parameters:
    ///   - route: The route's name; nil for jobs that no route takes.
    ///   - worker: The worker's instance name.
    ///   - includesDeviceToken: Whether results name the device token.
    package init(route: String?, worker: String, includesDeviceToken: Bool = true) {
        var buffer: [UInt8] = []
        buffer.append(",\"route\":")
        if let route { JSONText.append(string: Array(route.utf8).span, to: &buffer) } else { buffer.append("null") }
        buffer.append(",\"attempt\":")
        routeFragment = buffer
        buffer.removeAll()
        buffer.append(",\"worker\":")
        JSONText.append(string: Array(worker.utf8).span, to: &buffer)
        buffer.append("}")
        workerFragment = buffer
        self.includesDeviceToken = includesDeviceToken
    }
}
