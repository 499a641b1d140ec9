import CNGHTTP2

/// The values of a SETTINGS frame (RFC 9113, 6.5.2); `nil` for values that are not announced.
package struct HTTP2Settings: Hashable, Sendable {
    /// Bytes of the header compression table of the announcing side.
    package var headerTableSize: UInt32?
    /// Whether the announcing side accepts pushed responses: 0 or 1.
    package var enablePush: UInt32?
    /// How many streams the announcing side allows its peer to have open at once.
    package var maxConcurrentStreams: UInt32?
    /// Bytes of the flow-control window every new stream starts with.
    package var initialWindowSize: UInt32?
    /// Bytes of the largest frame payload the announcing side accepts.
    package var maxFrameSize: UInt32?
    /// Bytes of the largest header list the announcing side accepts, 32 added per field.
    package var maxHeaderListSize: UInt32?

    /// Makes a set of settings. Values that are left out are not announced.
    ///
    /// - Parameters:
    ///   - headerTableSize: Bytes of the header compression table.
    ///   - enablePush: Whether pushed responses are accepted: 0 or 1.
    ///   - maxConcurrentStreams: How many streams the peer may have open at once.
    ///   - initialWindowSize: Bytes of the flow-control window of a new stream.
    ///   - maxFrameSize: Bytes of the largest accepted frame payload.
    ///   - maxHeaderListSize: Bytes of the largest accepted header list.
    package init(
        headerTableSize: UInt32? = nil, enablePush: UInt32? = nil, maxConcurrentStreams: UInt32? = nil,
        initialWindowSize: UInt32? = nil, maxFrameSize: UInt32? = nil, maxHeaderListSize: UInt32? = nil
    ) {
        self.headerTableSize = headerTableSize
        self.enablePush = enablePush
        self.maxConcurrentStreams = maxConcurrentStreams
        self.initialWindowSize = initialWindowSize
        self.maxFrameSize = maxFrameSize
        self.maxHeaderListSize = maxHeaderListSize
    }

    /// The announced values with their identifiers, in the order of the identifiers.
    var entries: [nghttp2_settings_entry] {
        let values: [(nghttp2_settings_id, UInt32?)] = [
            (NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, headerTableSize),
            (NGHTTP2_SETTINGS_ENABLE_PUSH, enablePush),
            (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, maxConcurrentStreams),
            (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, initialWindowSize),
            (NGHTTP2_SETTINGS_MAX_FRAME_SIZE, maxFrameSize),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, maxHeaderListSize),
        ]
        return values.compactMap { identifier, value in
            value.map { nghttp2_settings_entry(settings_id: Int32(identifier.rawValue), value: $0) }
        }
    }

    /// Takes over one value of a received frame; unknown identifiers are ignored, as RFC 9113, 6.5.2 asks.
    ///
    /// - Parameter entry: The identifier and its value.
    mutating func merge(_ entry: nghttp2_settings_entry) {
        switch nghttp2_settings_id(rawValue: UInt32(bitPattern: entry.settings_id)) {
        case NGHTTP2_SETTINGS_HEADER_TABLE_SIZE: headerTableSize = entry.value
        case NGHTTP2_SETTINGS_ENABLE_PUSH: enablePush = entry.value
        case NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS: maxConcurrentStreams = entry.value
        case NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE: initialWindowSize = entry.value
        case NGHTTP2_SETTINGS_MAX_FRAME_SIZE: maxFrameSize = entry.value
        case NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE: maxHeaderListSize = entry.value
        default: break
        }
    }
}
