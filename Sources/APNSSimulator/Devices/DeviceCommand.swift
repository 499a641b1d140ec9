/// A command of a device's owner.
package enum DeviceCommand: Equatable, Sendable {
    /// Disconnects, and stays offline.
    case offline
    /// Connects again.
    case online
    /// Begins to save power, or stops saving.
    case power(PowerState)
    /// Removes an app: its tokens die.
    case uninstall(app: String)
    /// Installs an app and gets a new token for it. Removes the app first if it is installed.
    case reinstall(app: String)
    /// Restores the device from a backup, or sets its system up again: every app gets a new token.
    case restore
    /// Listens to a broadcast channel of an app.
    case subscribe(app: String, broadcastChannel: String)
    /// Stops listening to a broadcast channel of an app.
    case unsubscribe(app: String, broadcastChannel: String)
    /// Switches an app's notifications off.
    case mute(app: String)
    /// Switches an app's notifications on again.
    case unmute(app: String)
    /// Ends.
    case quit

    /// The commands as they are typed, for help.
    package static let help = """
        offline | online                 leave the network, come back
        low-power | normal-power         save power: priority 5 comes in groups, priority 1 waits
        uninstall [APP]                  pushes get 410 Unregistered from now on
        reinstall [APP]                  a new token; the old one gets 410
        restore                          restored from a backup: a new token for every app
        subscribe CHANNEL [APP]          listen to a broadcast channel; unsubscribe ends it
        mute [APP] | unmute [APP]        switch an app's notifications off and on
        quit
        """

    /// Reads a typed line.
    ///
    /// - Parameters:
    ///   - line: The words.
    ///   - app: The app that a line without an app is about.
    /// - Returns: The command; nil where the line is not one.
    package init?(line: String, app: String) {
        let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let word = words.first?.lowercased(), words.count <= 3 else { return nil }
        let named = words.count > 1 ? words[1] : app
        switch (word, words.count) {
        case ("offline", 1): self = .offline
        case ("online", 1): self = .online
        case ("low-power", 1): self = .power(.low)
        case ("normal-power", 1): self = .power(.normal)
        case ("uninstall", 1...2): self = .uninstall(app: named)
        case ("reinstall", 1...2), ("install", 1...2): self = .reinstall(app: named)
        case ("restore", 1): self = .restore
        case ("subscribe", 2...3):
            self = .subscribe(app: words.count > 2 ? words[2] : app, broadcastChannel: words[1])
        case ("unsubscribe", 2...3):
            self = .unsubscribe(app: words.count > 2 ? words[2] : app, broadcastChannel: words[1])
        case ("mute", 1...2): self = .mute(app: named)
        case ("unmute", 1...2): self = .unmute(app: named)
        case ("quit", 1): self = .quit
        default: return nil
        }
    }
}
