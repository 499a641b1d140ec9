extension [UInt8] {
    /// These bytes, so many times over. Appended whole: element by element, ten megabytes take a debug build seconds,
    /// and a scripted peer makes them on the thread that its test's time limits are counted on.
    package func repeated(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(self.count * count)
        for _ in 0..<count { bytes += self }
        return bytes
    }
}
