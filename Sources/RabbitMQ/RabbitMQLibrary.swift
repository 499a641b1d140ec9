import CRabbitMQ

/// The C library that speaks AMQP for this module.
package enum RabbitMQLibrary {
    /// Its version, as loaded.
    package static var version: String { String(cString: amqp_version()) }
}
