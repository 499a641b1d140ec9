package import PushModel
package import RabbitMQ

extension HeaderValue {
    /// The value of a header of a delivery, by its place in the same buffer; nil for a void one.
    package init?(_ field: FieldSlice) {
        switch field {
        case .text(let range): self = .text(range)
        case .bytes(let range): self = .bytes(range)
        case .integer(let number): self = .integer(number)
        case .timestamp(let seconds): self = .timestamp(seconds)
        case .void: return nil
        default: self = .other
        }
    }
}
