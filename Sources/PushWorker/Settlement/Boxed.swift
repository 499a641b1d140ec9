/// An optional value that takes one word while it is nil. For properties that few of many jobs have.
@propertyWrapper
enum Boxed<Value> {
    case none
    indirect case some(Value)

    /// Boxes a value, or its absence.
    init(wrappedValue: Value?) {
        self = wrappedValue.map(Self.some) ?? .none
    }

    /// The value; nil without one.
    var wrappedValue: Value? {
        get {
            guard case .some(let value) = self else { return nil }
            return value
        }
        set { self = Boxed(wrappedValue: newValue) }
    }
}
