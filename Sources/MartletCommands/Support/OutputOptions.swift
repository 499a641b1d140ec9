import ArgumentParser

/// The option that every command with data has.
struct OutputOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: "How to print data: text, or json with one object per line.")
    var output: OutputFormat = .text
}
