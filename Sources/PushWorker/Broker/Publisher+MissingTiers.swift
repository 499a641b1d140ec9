import EventLoop
import PushModel

// A broker whose topology is an older one has no holding tiers.
extension Publisher {
    /// The positions of holding tiers that the broker lacks, as far as it has said on this connection.
    var missingTiers: Set<Int> { missing.positions }

    /// Sends copies for a holding tier that the broker lacks into another tier.
    func redirectMissing(now: MonotonicTime) {
        while let (destination, items) = trials.takeClosed(where: missing.redirects) {
            guard case .retry(let tier) = destination, let substitute = missing.substitute(for: tier) else { return }
            missing.note(tier, now: now)
            var redirected = items
            channels.main.removeWaiting { publication in
                guard publication.destination == destination, missing.redirects(publication) else { return false }
                redirected.append(publication)
                return true
            }
            for publication in redirected {
                publication.redirect(to: substitute)
                wait(publication)
            }
        }
    }
}
