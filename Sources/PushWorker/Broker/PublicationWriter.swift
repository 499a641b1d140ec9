import RabbitMQ

/// Writes publications to a connection, and decides which parts to leave out if the broker's frames are too small.
///
/// A message's properties must fit one frame (AMQP 0-9-1, 4.2.3). Reuses one buffer for all messages.
struct PublicationWriter {
    /// What became of an attempt to write a message.
    enum Outcome {
        /// It is in the session's output buffer.
        case written
        /// There is no room in the session's output buffer now.
        case noRoom
        /// No frame of the broker can carry it.
        case unfit
    }

    /// Writes a publication as a message.
    var renderer: PublicationRenderer
    private var message = OutgoingMessage()

    /// Starts with an empty buffer.
    init(_ renderer: PublicationRenderer) { self.renderer = renderer }

    /// Writes one message. A dead letter or a retry copy that does not fit is written without what it can do without
    /// (`PublicationRenderer`). A retry copy that does not fit then is not written: without the producer's headers it
    /// would be another job. Results and replies have no producer headers.
    ///
    /// - Throws: `AMQPError` that ends the connection.
    mutating func write(
        _ publication: Publication, on channel: UInt16, of session: AMQPSession
    ) throws(AMQPError) -> Outcome {
        renderer.render(publication, into: &message)
        do throws(AMQPError) {
            return try session.publish(message, channel: channel) ? .written : .noRoom
        } catch {
            guard error.code == .invalidMessage else { throw error }
        }
        renderer.render(publication, into: &message, shortened: true)
        do throws(AMQPError) {
            return try session.publish(message, channel: channel) ? .written : .noRoom
        } catch {
            guard error.code == .invalidMessage, publication.kind == .retry else { throw error }
            return .unfit
        }
    }
}
