/// What a device is told by its owner.
package enum DeviceCommand: Equatable, Sendable {
    /// Disconnects and stays so.
    case offline
    /// Connects again.
    case online
    /// Saves power, or no longer does.
    case power(PowerState)
    /// Removes an app: its tokens die.
    case uninstall(app: String)
    /// Installs an app, after removing it where it is there: it gets a new token.
    case reinstall(app: String)
    /// Restores the device from a backup, or sets its system up again: every app gets a new token.
    case restore
    /// Listens to a broadcast channel of an app.
    case subscribe(app: String, broadcastChannel: String)
    /// No longer listens to it.
    case unsubscribe(app: String, broadcastChannel: String)
    /// Switches an app's notifications off.
    case mute(app: String)
    /// Switches them on again.
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
    ///   - app: The app that is meant where none is named.
    /// - Returns: The command; nil for anything else.
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
