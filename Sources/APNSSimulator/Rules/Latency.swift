import Glibc
import Text

/// How long answers take, drawn anew for each push.
package enum Latency: Hashable, Sendable {
    /// The longest wait that is ever drawn, in milliseconds.
    static let limit = 600_000.0

    /// The uniform distribution between two bounds, in milliseconds.
    case uniform(min: Int, max: Int)
    /// The exponential distribution: mostly short and seldom long, like the time between independent events. The value
    /// is its mean in milliseconds.
    case exponential(mean: Int)
    /// The log-normal distribution: a typical time with a long tail, as of real services. The values are its median and
    /// its 99th percentile in milliseconds.
    case logNormal(median: Int, percentile99: Int)

    /// Draws a wait.
    ///
    /// - Parameter generator: The randomness.
    /// - Returns: Milliseconds.
    func draw(using generator: inout SplitMix64) -> Int {
        let fraction = generator.fraction()
        let milliseconds: Double
        switch self {
        case .uniform(let low, let high):
            milliseconds = Double(low) + fraction * Double(high - low)
        case .exponential(let mean):
            milliseconds = -Double(mean) * log(1 - fraction)
        case .logNormal(let median, let percentile99):
            // Box and Muller: two uniform random numbers give a normal one. 2.3263 is the 99th percentile of the
            // standard normal distribution.
            let normal = (-2 * log(1 - fraction)).squareRoot() * cos(2 * Double.pi * generator.fraction())
            let ratio = Double(max(percentile99, median, 1)) / Double(max(median, 1))
            milliseconds = Double(median) * exp(normal * log(ratio) / 2.3263)
        }
        return Int(min(Self.limit, max(0, milliseconds)).rounded())
    }
}
