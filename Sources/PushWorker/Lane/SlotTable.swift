/// Gives each open request a small number, and finds the request again by it.
///
/// The slot that was freed last is reused first. The table never has more slots than requests were open at once.
struct SlotTable<Element> {
    private var elements: [Element?] = []
    private var free: [Int] = []

    /// How many slots are taken.
    private(set) var count = 0

    /// Takes a free slot for the element.
    ///
    /// - Returns: The slot's number, which stays valid until `remove(_:)`.
    mutating func insert(_ element: Element) -> Int {
        count += 1
        if let slot = free.popLast() {
            elements[slot] = element
            return slot
        }
        elements.append(element)
        return elements.count - 1
    }

    /// Frees a slot and gives back its element; nil if the slot was free already, which is a bug.
    mutating func remove(_ slot: Int) -> Element? {
        guard elements.indices.contains(slot), let element = elements[slot].take() else { return nil }
        free.append(slot)
        count -= 1
        return element
    }

    /// Whether any element is as wanted. Looks at one element after the other until one is.
    func contains(where isWanted: (Element) -> Bool) -> Bool {
        elements.contains { $0.map(isWanted) ?? false }
    }

    /// Looks at all elements.
    func forEach(_ look: (Element) -> Void) {
        for element in elements { element.map(look) }
    }

    /// Frees all slots and gives back what was in them.
    mutating func removeAll() -> [Element] {
        let all = elements.compactMap(\.self)
        elements.removeAll(keepingCapacity: true)
        free.removeAll(keepingCapacity: true)
        count = 0
        return all
    }
}
