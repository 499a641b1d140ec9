import FuzzTargets
import Glibc

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

/// What libFuzzer calls with every input.
///
/// <https://llvm.org/docs/LibFuzzer.html>
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    target.run(Array(UnsafeBufferPointer(start: data, count: size)))
    return 0
}
