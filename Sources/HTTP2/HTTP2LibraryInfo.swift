import CNGHTTP2

/// The C library that speaks HTTP/2 for this module.
package enum HTTP2LibraryInfo {
    /// The version of nghttp2 that was loaded, such as `1.52.0`.
    package static var version: String {
        guard let information = nghttp2_version(0), let text = information.pointee.version_str else { return "unknown" }
        return String(cString: text)
    }
}
