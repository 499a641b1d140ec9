/// How long a connection that was idle may give no sign after a request.
package struct SilencePatience: Sendable {
    /// How long after the request it is asked by PING.
    package var beforeQuestion = Duration.seconds(2)
    /// How long after the PING new requests go to another connection.
    package var beforeSilence = Duration.seconds(1)
}
