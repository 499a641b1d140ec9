import CLinux

/// What a socket is ready for, or what the loop is to wait for.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A read will not block: there are bytes, or the end of the stream.
    package static let readable = Readiness(rawValue: 1)
    /// A write will not block.
    package static let writable = Readiness(rawValue: 2)
    /// The peer stopped sending, or the connection broke (EPOLLRDHUP, EPOLLHUP, EPOLLERR). It is reported even if not
    /// asked for.
    package static let hangUp = Readiness(rawValue: 4)
}

extension Readiness {
    /// The events to ask epoll_ctl(2) for.
    var epollEvents: UInt32 {
        var events = EPOLLRDHUP.rawValue
        if contains(.readable) { events |= EPOLLIN.rawValue }
        if contains(.writable) { events |= EPOLLOUT.rawValue }
        return events
    }

    /// Translates the events that epoll_wait(2) reported.
    init(epoll events: UInt32) {
        var readiness: Readiness = []
        if events & EPOLLIN.rawValue != 0 { readiness.insert(.readable) }
        if events & EPOLLOUT.rawValue != 0 { readiness.insert(.writable) }
        if events & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 { readiness.insert(.hangUp) }
        self = readiness
    }
}
