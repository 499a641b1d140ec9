import EventLoop

/// The connections of the devices that are online, and the thread that serves them.
///
/// A value without sockets. Frames to be sent go to the thread's mailbox.
struct DeviceLinks: Sendable {
    /// The number of the device port; 0 for none.
    private(set) var portNumber = 0

    private var links: [DeviceID: Int] = [:]
    /// The device port's thread; nil before it runs and after its end.
    private var port: Mailbox<DevicePortMessage>?

    /// How many devices are online.
    var count: Int { links.count }

    /// Connects with the thread of the device port.
    ///
    /// - Parameters:
    ///   - port: Where that thread takes messages; nil once it has ended.
    ///   - number: The number of the port; 0 for none.
    mutating func attach(_ port: Mailbox<DevicePortMessage>?, number: Int) {
        self.port = port
        portNumber = number
    }

    /// Whether a device is online.
    ///
    /// - Parameter device: The device.
    func contains(_ device: DeviceID) -> Bool { links[device] != nil }

    /// Makes a connection the device's present one. Closes the device's former connection, if there is one.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - link: The connection.
    ///   - answer: A frame that is sent on the connection before any notification.
    mutating func connect(_ device: DeviceID, by link: Int, answer: DeviceFrame) {
        if let former = links[device], former != link { port?.post(.close(link: former)) }
        port?.post(.send(answer, link: link))
        links[device] = link
    }

    /// Forgets a connection that is over.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - link: The connection.
    /// - Returns: Whether it was the device's present connection.
    mutating func disconnect(_ device: DeviceID, link: Int) -> Bool {
        guard links[device] == link else { return false }
        links[device] = nil
        return true
    }

    /// Sends a notification to a device. Does nothing where the device is offline.
    ///
    /// - Parameters:
    ///   - delivery: The notification.
    ///   - device: The device.
    func send(_ delivery: NotificationStore.Delivery, to device: DeviceID) {
        guard let link = links[device] else { return }
        port?.post(.send(DeviceFrame(delivery), link: link))
    }

    /// Asks the thread to write changes to disk soon.
    func requestSave() { port?.post(.save) }
}
