/// Names one scheduled timer; worthless once the timer has run or was cancelled.
package struct TimerID: Hashable, Sendable {
    /// Where the timer's action lies.
    let slot: Int
    /// Which of the slot's successive timers is meant.
    let generation: UInt64
}
