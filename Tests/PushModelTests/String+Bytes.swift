extension String {
    /// The bytes of the text.
    var bytes: [UInt8] { Array(utf8) }
}
