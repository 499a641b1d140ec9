import Glibc

extension PrivateBroker {
    /// Runs `rabbitmqctl` against this broker; takes about 0.5 s.
    ///
    /// - Parameters:
    ///   - arguments: The command and its arguments.
    ///   - input: Bytes for its standard input.
    /// - Returns: What it wrote to standard output.
    /// - Throws: `LocalStackError` with its complaint when it fails.
    /// - SeeAlso: <https://www.rabbitmq.com/docs/man/rabbitmqctl.8>
    @discardableResult
    package func control(_ arguments: [String], input: [UInt8] = []) throws(LocalStackError) -> String {
        let outcome = try ChildProcess.run(
            "\(Self.programs)/rabbitmqctl", ["--quiet"] + arguments, environment: environment, input: input)
        guard outcome.status == 0 else {
            throw LocalStackError(
                .programFailed,
                "rabbitmqctl \(arguments.first ?? "") failed with status \(outcome.status): \(outcome.errorText)\(outcome.text)"
            )
        }
        return outcome.text
    }

    /// Lets the node evaluate an Erlang expression. Takes a few milliseconds: `rabbitmqctl eval` does the same with an
    /// Erlang machine of its own, which takes a second of processor time to start.
    ///
    /// - Parameter expression: With the final dot.
    /// - Returns: The lines that the expression wrote, and its value as a term of Erlang.
    /// - Throws: `LocalStackError` where the node does not answer, or the expression fails.
    /// - SeeAlso: <https://www.erlang.org/doc/apps/erl_interface/erl_call_cmd.html>
    @discardableResult
    package func evaluate(
        _ expression: String
    ) throws(LocalStackError) -> (written: [Substring], value: String) {
        let outcome = try ChildProcess.run(
            Self.evaluator, ["-address", "127.0.0.1:\(ports.distribution)", "-R", "-e", "-fetch_stdout"],
            environment: environment, input: Array("\(expression)\n".utf8))
        var lines = outcome.text.split(separator: "\n")
        // `{ok, VALUE}`, or `{error, REASON}`.
        let (before, after) = ("{ok, ", "}")
        guard outcome.status == 0, let last = lines.popLast(), last.hasPrefix(before), last.hasSuffix(after) else {
            throw LocalStackError(
                .programFailed, "the broker's node could not evaluate: \(outcome.errorText)\(outcome.text)")
        }
        return (lines, String(last.dropFirst(before.count).dropLast(after.count)))
    }

    /// Prepares the node for its end, as operators do before an upgrade: its clients are disconnected, and leaders
    /// move.
    ///
    /// The program fails where a channel does not end in time, although the node counts as drained by then. The second
    /// time it does what is left.
    ///
    /// - Throws: `LocalStackError` with the complaint of `rabbitmq-upgrade`.
    /// - SeeAlso: <https://www.rabbitmq.com/docs/upgrade#maintenance-mode>,
    ///   <https://github.com/rabbitmq/rabbitmq-server/issues/3369>
    package func drain() throws(LocalStackError) {
        func attempt() throws(LocalStackError) -> ChildProcess.Outcome {
            try ChildProcess.run("\(Self.programs)/rabbitmq-upgrade", ["drain"], environment: environment)
        }
        var outcome = try attempt()
        if outcome.errorText.contains("channel_termination_timeout") { outcome = try attempt() }
        guard outcome.status == 0 else {
            throw LocalStackError(.programFailed, "rabbitmq-upgrade drain failed: \(outcome.errorText)\(outcome.text)")
        }
    }

    /// Whether all members of all quorum queues of the cluster are online, so that any one node may end.
    ///
    /// - Throws: `LocalStackError` when the broker does not answer.
    package func hasWholeQueues() throws(LocalStackError) -> Bool {
        let counts = "[length(element(2, I)) || I <- rabbit_quorum_queue:info(Q, [members, online])]"
        let queues = "Q <- rabbit_amqqueue:list(), amqqueue:get_type(Q) =:= rabbit_quorum_queue"
        let isWhole = "lists:all(fun([M, O]) -> M =:= O end, [\(counts) || \(queues)])."
        return try evaluate(isWhole).value == "true"
    }

    /// Creates exchanges, queues, bindings, policies and users from a definitions file; importing twice does no harm.
    ///
    /// - Parameter json: The text that `martlet topology render` prints.
    /// - Throws: `LocalStackError` with the broker's complaint.
    /// - SeeAlso: <https://www.rabbitmq.com/docs/definitions>
    package func importDefinitions(json: [UInt8]) throws(LocalStackError) {
        // As `rabbitmqctl import_definitions` does it. Each import has a file name of its own, because two imports may run
        // at once.
        let file = try directory.write(json, to: "definitions-\(UInt32.random(in: 0 ... .max)).json")
        let expression = "{ok, Text} = file:read_file(\"\(file)\"), ok = rabbit_definitions:import_raw(Text)."
        do throws(LocalStackError) {
            try evaluate(expression)
        } catch {
            // A broker answers clients a moment before it counts as started.
            try control(["await_startup"])
            try evaluate(expression)
        }
    }

    /// What every queue holds at this moment, by the queues' own count. The listing of `rabbitmqctl list_queues` shows
    /// counters of quorum queues as they were at their last tick.
    ///
    /// A crash may cost a new quorum queue its log, and then the queue never answers. So after 20 s the listing is
    /// taken. By then its counters are those of later ticks.
    ///
    /// - Parameter virtualHost: Whose queues.
    /// - Returns: Counts by queue name.
    /// - Throws: `LocalStackError` when the broker does not answer.
    package func queueCounts(virtualHost: String = "/") throws(LocalStackError) -> [String: QueueCounts] {
        let expression = Self.exactCounts(virtualHost: virtualHost)
        // A queue has no leader for a moment, for instance after a start, and then answers the next time.
        let deadline = ContinuousClock.now.advanced(by: Self.electionPatience)
        repeat {
            if let found = try? evaluate(expression) { return Self.counts(in: found.written) }
            poll(nil, 0, 50)
        } while ContinuousClock.now < deadline
        return Self.counts(
            in: try control([
                "list_queues", "--vhost", virtualHost, "--no-table-headers", "name", "messages_ready",
                "messages_unacknowledged",
            ]).split(separator: "\n"))
    }

    /// How long queues may take to elect their leaders: many ticks, which are 0.5 s apart in a private broker.
    private static let electionPatience = Duration.seconds(20)

    private static func counts(in lines: [Substring]) -> [String: QueueCounts] {
        var counts: [String: QueueCounts] = [:]
        for line in lines {
            let fields = line.split(separator: "\t")
            guard fields.count == 3, let ready = Int(fields[1]), let unacknowledged = Int(fields[2]) else { continue }
            counts[String(fields[0])] = QueueCounts(ready: ready, unacknowledged: unacknowledged)
        }
        return counts
    }

    /// The Erlang expression that writes name, ready and unacknowledged of each queue, one per line.
    private static func exactCounts(virtualHost: String) -> String {
        """
        lists:foreach(fun(Q) ->
          {R, U} = case amqqueue:get_type(Q) of
            rabbit_quorum_queue ->
              {ok, {_, X}, _} = ra:local_query(amqqueue:get_pid(Q), fun(S) ->
                {rabbit_fifo:query_messages_ready(S), rabbit_fifo:query_messages_checked_out(S)} end),
              X;
            _ ->
              [{_, A}, {_, B}] = rabbit_amqqueue:info(Q, [messages_ready, messages_unacknowledged]),
              {A, B}
          end,
          io:format("~ts\\t~p\\t~p~n", [element(4, amqqueue:get_name(Q)), R, U])
        end, rabbit_amqqueue:list(<<"\(virtualHost)">>)).
        """
    }
}
