import Glibc

/// What went wrong with a socket or a program of a test.
struct LoopbackError: Error {
    var call: String
    var number = errno
}
