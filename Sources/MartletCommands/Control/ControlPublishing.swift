import PushModel
import PushWorker
import RabbitMQ
import Rig
import Topology

/// Publishes one command to all workers, or says what it would publish.
struct ControlPublishing {
    /// What was given on the command line.
    let options: ControlOptions

    /// Checks a request, and publishes its command.
    ///
    /// - Parameters:
    ///   - request: What is asked for.
    ///   - isCertain: Whether to publish without a question.
    /// - Throws: Why the command was not published.
    func run(_ request: ControlRequest, isCertain: Bool) throws {
        let command = try request.command(id: JobIdentifier.new(), at: JobIdentifier.now())
        let place = try ControlPlace(options)
        if let routes = place.routes { try request.check(against: routes) }
        if !isCertain, !options.dryRun, let question = request.question { try Console.confirm(question) }
        let link = try CommandConnection.open(place.endpoints, timeout: .seconds(10))
        defer { link.close() }
        if place.routes == nil { try checkRoute(of: command, over: link) }
        guard !options.dryRun else { return try preview(command, over: link) }
        try publish(command, over: link)
        tell(command, isPublished: true, standing: nil)
        try Console.flush()
        if let hint = request.hint { Console.talk(hint) }
        Console.talk("published as \(command.id); each worker follows as it reads it. See all: martlet control")
    }

    /// Makes sure that the broker knows a command's route, as far as it tells the user.
    private func checkRoute(of command: ControlCommand, over link: CommandConnection) throws(CommandFailure) {
        guard case .route(let name) = command.target else { return }
        do throws(CommandFailure) {
            _ = try link.messageCount(TopologyNames.jobQueue(route: name))
        } catch {
            // RabbitMQ 4.2.6 and 4.3.0 let only those look who may declare the queue.
            if error.status == .refused { return }
            guard error.lack == .object else { throw error }
            throw CommandFailure(
                .unreachable, "\(link.description): there is no queue of a route \"\(name.printable)\"",
                remedy: "Is the name right? The routes are in the workers' configuration: --config FILE suggests one.")
        }
    }

    /// Says what would be published, and which commands stand today.
    private func preview(_ command: ControlCommand, over link: CommandConnection) throws(CommandFailure) {
        let standing: [ControlCommand]
        do throws(CommandFailure) {
            standing = try ControlPicture.read(over: link).standing(at: command.issuedAt)
        } catch {
            throw error.lack == .object ? Self.unread(at: link.description) : error
        }
        tell(command, isPublished: false, standing: standing)
        try Console.flush()
        if options.format.output == .text {
            Console.talk(standing.isEmpty ? "Nothing stands today." : "What stands today:")
            for command in standing { Console.talk("  \(command.sentence)") }
        }
        Console.talk("nothing was published (--dry-run)")
    }

    private func tell(_ command: ControlCommand, isPublished: Bool, standing: [ControlCommand]?) {
        switch options.format.output {
        case .text: Console.data(command.sentence, words: ControlCommand.deeds)
        case .json:
            var members: [(String, JSON)] = [
                ("published", .boolean(isPublished)), ("command", .verbatim(command.json)),
            ]
            if let standing { members.append(("standing", .array(standing.map { .verbatim($0.json) }))) }
            Console.data(JSON.object(members).bytes)
        }
    }

    /// Publishes a command, and waits until the broker confirms it.
    private func publish(_ command: ControlCommand, over link: CommandConnection) throws(CommandFailure) {
        var message = OutgoingMessage()
        command.write(to: &message)
        var fates: [PublishFate] = []
        do throws(CommandFailure) {
            _ = try link.submit(message, routingKey: "") { fates.append($0) }
            try link.finishPublishing { fates.append($0) }
        } catch {
            if error.lack == .object { throw Self.unread(at: link.description) }
            var failure = error
            if failure.status == .refused {
                failure.remedy = "Log in as apns-operator, which may do this."
            }
            throw failure
        }
        switch fates.first?.kind {
        case .confirmed: return
        case .returned: throw Self.unread(at: link.description)
        case .refused, nil:
            throw CommandFailure(
                .refused, "\(link.description): the broker refused the command",
                remedy: "Has the stream \(TopologyNames.controlQueue) a leader? See martlet status.")
        }
    }

    /// The failure where the broker has no stream for commands.
    private static func unread(at place: String) -> CommandFailure {
        CommandFailure(
            .unreachable,
            "\(place): no workers read this: there is no stream \(TopologyNames.controlQueue) at the exchange "
                + TopologyNames.control, remedy: "Make it with: martlet topology apply")
    }
}
