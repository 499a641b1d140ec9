/// Text that shows itself only to code that asks for it by name: no description, dump or log line reveals it.
package struct SecretText: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The text itself; hand it to the library that needs it and to nothing else.
    package let revealed: String

    /// Hides a text.
    package init(_ text: String) {
        revealed = text
    }

    /// A placeholder that says only that there is something.
    package var description: String { revealed.isEmpty ? "<not set>" : "<set>" }

    /// The same placeholder as ``description``.
    package var debugDescription: String { description }

    /// A mirror without children, so that `dump` shows nothing either.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
