import PushModel

// A broker whose topology is an older one has no holding tiers.
extension Publisher {
    /// Sends copies for a holding tier that the broker lacks into the longest retry tier instead. They are not due when
    /// they come back, and wait on.
    func redirectMissing() {
        guard let policy, let fallback = policy.fallbackTier else { return }
        let isRedirected = { (publication: Publication) in
            // A queue refused the publications of a line before, so their exchange exists.
            guard case .retry(let tier) = publication.destination, !publication.isInLine else { return false }
            return policy.isHolding(tier)
        }
        while let (destination, items) = trials.takeClosed(where: isRedirected) {
            guard case .retry(let tier) = destination else { return }
            missingTiers.insert(tier)
            var redirected = items
            main.removeWaiting { publication in
                guard publication.destination == destination, isRedirected(publication) else { return false }
                redirected.append(publication)
                return true
            }
            for publication in redirected {
                publication.redirect(to: fallback)
                wait(publication)
            }
        }
    }
}
