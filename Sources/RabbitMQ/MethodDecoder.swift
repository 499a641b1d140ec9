import CRabbitMQ

/// Owns the memory in which rabbitmq-c decodes the arguments of one method.
struct MethodDecoder: ~Copyable {
    /// The size of a page of the pool, in bytes: enough for the arguments of any method without a long table.
    private static let pageSize = 4096

    private let pool: UnsafeMutablePointer<amqp_pool_t>

    /// A decoder whose pool is empty; the first method allocates memory.
    init() {
        pool = .allocate(capacity: 1)
        pool.initialize(to: amqp_pool_t())
        init_amqp_pool(pool, Self.pageSize)
    }

    deinit {
        empty_amqp_pool(pool)
        pool.deinitialize(count: 1)
        pool.deallocate()
    }

    /// Decodes the arguments of a method.
    ///
    /// The library decodes tables recursively and without limit. So a method that carries a table must be checked
    /// first.
    ///
    /// - Parameters:
    ///   - method: Its number.
    ///   - arguments: The bytes behind the number; strings of the result point into them.
    /// - Returns: The library's struct for the method, valid until the next call.
    /// - Throws: `protocolViolation` if the arguments cannot be read.
    mutating func decode(
        _ method: UInt32, _ arguments: UnsafeRawBufferPointer
    ) throws(AMQPError) -> UnsafeMutableRawPointer {
        recycle_amqp_pool(pool)
        var decoded: UnsafeMutableRawPointer?
        let encoded = amqp_bytes_t(
            len: arguments.count, bytes: UnsafeMutableRawPointer(mutating: arguments.baseAddress))
        let status = amqp_decode_method(method, pool, encoded, &decoded)
        guard status == AMQP_STATUS_OK.rawValue, let decoded else {
            throw AMQPError(
                .protocolViolation,
                "the broker sent a method \(method >> 16).\(method & 0xffff) that cannot be read: "
                    + String(cString: amqp_error_string2(status)))
        }
        return decoded
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes of a string of the library.
    ///
    /// - Parameter bytes: The string; it must outlive this view.
    @inline(__always)
    init(_ bytes: amqp_bytes_t) { self.init(start: bytes.bytes, count: bytes.bytes == nil ? 0 : bytes.len) }
}

extension String {
    /// The text of a string of the library; bytes that are not UTF-8 are replaced.
    ///
    /// - Parameter bytes: The string.
    init(_ bytes: amqp_bytes_t) { self.init(decoding: UnsafeRawBufferPointer(bytes), as: UTF8.self) }
}
