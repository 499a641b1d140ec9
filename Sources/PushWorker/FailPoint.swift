import Glibc
import PushModel
import Synchronization

/// A step of a job's life at which a debug build can be made to die, as if it were killed there.
///
/// The variable `MARTLET_FAILPOINT` names the step, and says when to die:
/// - `after-send:250`: when the step is reached for the 250th time.
/// - `after-send:0.001`: each time with this probability.
/// - `crash-on-job:<id>`: whenever the job of this id is taken up.
///
/// A release build has no fail-points: each call is an empty function.
enum FailPoint: String, CaseIterable {
    /// A notification is about to be handed to a connection.
    case beforeSend = "before-send"
    /// Requests were written to APNs.
    case afterSend = "after-send"
    /// APNs answered a request.
    case afterAnswer = "after-answer"
    /// Publications were written to the broker, and are not confirmed.
    case publishedUnconfirmed = "published-unconfirmed"
    /// Everything that a delivery asked for is confirmed.
    case confirmedUnacknowledged = "confirmed-unacknowledged"
    /// Acknowledgements are decided, and not written yet.
    case acknowledgedUnflushed = "acknowledged-unflushed"
}

#if DEBUG
    extension FailPoint {
        /// What the variable asks for.
        enum Plan: Equatable {
            /// To die when a step is reached for the n-th time.
            case hit(FailPoint, number: Int)
            /// To die at a step with a probability.
            case chance(FailPoint, Double)
            /// To die when a job is taken up.
            case job([UInt8])

            /// Reads the variable's text; nil when it makes no sense.
            init?(_ text: String) {
                let parts = text.split(separator: ":", maxSplits: 1)
                guard parts.count == 2 else { return nil }
                if parts[0] == "crash-on-job" {
                    self = .job(Array(parts[1].utf8))
                } else if let point = FailPoint(rawValue: String(parts[0])) {
                    if let number = Int(parts[1]), number > 0 {
                        self = .hit(point, number: number)
                    } else if let chance = Double(parts[1]), chance > 0, chance < 1 {
                        self = .chance(point, chance)
                    } else {
                        return nil
                    }
                } else {
                    return nil
                }
            }
        }

        private static let plan: Plan? = {
            guard let text = getenv("MARTLET_FAILPOINT").map({ String(cString: $0) }) else { return nil }
            guard let plan = Plan(text) else { fatalError("MARTLET_FAILPOINT: \(text) is not a fail-point") }
            return plan
        }()
        private static let hits = Atomic(0)

        /// The process reached a step. It dies there if the plan says so.
        ///
        /// - Parameter isReal: False if the step had nothing to do this time, so that it does not count.
        static func reached(_ point: FailPoint, if isReal: @autoclosure () -> Bool = true) {
            guard let plan, isReal() else { return }
            switch plan {
            case .hit(point, let number):
                if hits.add(1, ordering: .relaxed).newValue == number { die() }
            case .chance(point, let chance):
                if Double.random(in: 0..<1) < chance { die() }
            case .hit, .chance, .job: break
            }
        }

        /// A job is taken up.
        static func took(_ job: borrowing Job) {
            guard case .job(let id)? = plan, job.bytes[job.jobID].elementsEqual(id) else { return }
            die()
        }

        private static func die() { _ = kill(getpid(), SIGKILL) }
    }
#else
    extension FailPoint {
        /// Does nothing: only debug builds die on request.
        @inline(__always)
        static func reached(_ point: FailPoint, if isReal: @autoclosure () -> Bool = true) {}

        /// Does nothing: only debug builds die on request.
        @inline(__always)
        static func took(_ job: borrowing Job) {}
    }
#endif
