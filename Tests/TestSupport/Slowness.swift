import Glibc

/// How much longer than usual things may take: builds with a sanitizer are slow, which is what `MARTLET_FAULT_SLOWNESS`
/// says.
package enum Slowness {
    /// The factor; 1 for ordinary builds.
    package static let factor = getenv("MARTLET_FAULT_SLOWNESS").flatMap { Int(String(cString: $0)) } ?? 1
}
