import FuzzTargets
import Glibc

/// libFuzzer's driver: reads its options and runs until it is told to stop, or something breaks.
///
/// <https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library>
@_silgen_name("LLVMFuzzerRunDriver")
func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ tryOne: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Which parser is tried, from the environment variable FUZZ_TARGET.
private let target: FuzzTarget = {
    let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: " ")
        let text = "FUZZ_TARGET must be one of: \(names)\n"
        _ = write(STDERR_FILENO, text, text.utf8.count)
        exit(64)
    }
    return target
}()

/// Tries one parser with whatever libFuzzer makes up.
@main
enum Fuzz {
    /// Runs libFuzzer with the options of the command line.
    static func main() {
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        let status = runFuzzer(&count, &arguments) { data, size in
            target.run(Array(UnsafeBufferPointer(start: data, count: size)))
            return 0
        }
        exit(status)
    }
}
