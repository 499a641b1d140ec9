package import PushModel
package import RabbitMQ

extension HeaderValue {
    /// The value of a header of a delivery. Text and bytes are ranges in the same buffer. Nil for a void value.
    package init?(_ field: FieldSlice) {
        switch field {
        case .text(let range): self = .text(range)
        case .bytes(let range): self = .bytes(range)
        case .integer(let number): self = .integer(number)
        case .timestamp(let seconds): self = .timestamp(seconds)
        case .void: return nil
        case .unsigned: self = .other(.number)
        case .double: self = .other(.float)
        case .decimal: self = .other(.decimal)
        case .boolean: self = .other(.boolean)
        case .table: self = .other(.table)
        case .array: self = .other(.array)
        }
    }
}
