package import EventLoop
import Glibc
package import RabbitMQ

/// A small loop around one connection, for callers that may block: tools, tests, and a lane at its end.
extension BrokerConnection {
    /// Waits until the socket is ready or something is due, and goes on.
    ///
    /// - Parameters:
    ///   - deadline: How long to wait at most; nil for the connection's own limit, `nextDue`.
    ///   - delegate: What to report to.
    /// - Throws: An error that ends the connection.
    package func wait(until deadline: MonotonicTime?, delegate: any AMQPSessionDelegate) throws(AMQPError) {
        let start = MonotonicTime.now()
        try flush(delegate, now: start)
        let due = [deadline, nextDue(now: start)].compactMap(\.self).min()
        let limit = due.map { ($0 - start).pollMilliseconds } ?? -1
        var descriptor = pollfd(fd: fileDescriptor, events: 0, revents: 0)
        if interest.contains(.readable) { descriptor.events |= Int16(POLLIN) }
        if interest.contains(.writable) { descriptor.events |= Int16(POLLOUT) }
        var readiness: Readiness = []
        if poll(&descriptor, 1, limit) > 0 {
            let events = Int32(descriptor.revents)
            if events & POLLIN != 0 { readiness.insert(.readable) }
            if events & POLLOUT != 0 { readiness.insert(.writable) }
            if events & (POLLHUP | POLLERR) != 0 { readiness.insert(.hangUp) }
        }
        try advance(readiness, delegate: delegate, now: .now())
    }

    /// Ends the connection in an orderly way: the broker reads all that was sent before. Frames that still arrive are
    /// dropped.
    ///
    /// - Parameters:
    ///   - limit: How long to wait for the broker's answer.
    ///   - delegate: Is told nothing more.
    package func close(within limit: Duration, delegate: any AMQPSessionDelegate) {
        session.close()
        let deadline = MonotonicTime.now().adding(limit)
        while !session.isClosed, MonotonicTime.now() < deadline {
            // A connection that is lost while it closes has ended as well.
            guard (try? wait(until: deadline, delegate: delegate)) != nil else { return }
        }
    }
}
