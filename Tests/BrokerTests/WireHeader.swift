import RabbitMQ

/// A header as it stood on the wire: the kind tells integers of different widths apart.
struct WireHeader: Equatable {
    var name: String
    var kind: Character
    var value: FieldValue
}
