/// Lets other threads go on while a test waits for them.
///
/// - Throws: `CancellationError` once the time limit of the test is over, so that a wait in vain ends.
package func yieldUnlessOver() async throws {
    try Task.checkCancellation()
    await Task.yield()
}
