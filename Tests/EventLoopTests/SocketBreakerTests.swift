import EventLoop
import Glibc
import Testing

@Suite("Breaking a socket off from outside", .timeLimit(.minutes(1)))
struct SocketBreakerTests {
    @Test("both ends see the end of the connection")
    func ends() throws {
        let (left, right) = try Socket.descriptorPair()
        let (one, other) = (left, right)
        let breaker = try #require(SocketBreaker(one))
        breaker.breakOff()
        var byte: UInt8 = 0
        #expect(recv(one, &byte, 1, 0) == 0)
        #expect(recv(other, &byte, 1, 0) == 0)
        close(one)
        close(other)
    }

    @Test("a descriptor that was closed and given to another socket meanwhile is left alone")
    func reused() throws {
        let (old, oldPeer) = try Socket.descriptorPair()
        let breaker = try #require(SocketBreaker(old))
        let (fresh, freshPeer) = try Socket.descriptorPair()
        // The number of the old socket now stands for the new one.
        #expect(dup2(fresh, old) == old)
        breaker.breakOff()
        var byte: UInt8 = 7
        #expect(send(freshPeer, &byte, 1, Int32(MSG_NOSIGNAL)) == 1)
        byte = 0
        #expect(recv(old, &byte, 1, 0) == 1 && byte == 7)
        #expect(recv(oldPeer, &byte, 1, 0) == 0, "the old connection is the one that ended")
        for descriptor in [old, oldPeer, fresh, freshPeer] { close(descriptor) }
    }

    @Test("a socket that was let go is not broken off, and its connection ends with its owner's close")
    func released() throws {
        let (one, other) = try Socket.descriptorPair()
        let breaker = try #require(SocketBreaker(one))
        breaker.release()
        breaker.breakOff()
        var byte: UInt8 = 7
        #expect(send(one, &byte, 1, Int32(MSG_NOSIGNAL)) == 1)
        #expect(recv(other, &byte, 1, 0) == 1)
        close(one)
        #expect(recv(other, &byte, 1, 0) == 0)
        close(other)
    }
}
