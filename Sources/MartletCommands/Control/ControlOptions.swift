import ArgumentParser
import Glibc

/// The options of every command to all workers: author, reason, and the broker that it goes to.
struct ControlOptions: ParsableArguments {
    @Option(help: "Why, in your words; status and the workers' logs repeat it.") var reason: String?
    @Option(help: "Who asks. (default: your login and this machine, such as anna@ops1)") var author: String?
    @Flag(help: "Publish nothing; print what would be published, and what stands today.") var dryRun = false
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The workers' configuration: names the routes and, without --broker, the broker.", valueName: "file"))
    var config: String?
    @OptionGroup(title: "Broker") var broker: BrokerOptions
    @OptionGroup var format: OutputOptions

    /// Who asks: `--author`, else the login and the machine, such as `anna@ops1`.
    var signature: String { author ?? Self.usualAuthor }

    private static var usualAuthor: String {
        let user = getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(getuid())"
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0, name[0] != 0 else { return user }
        return "\(user)@\(String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))"
    }
}
