/// Gives each open request a small number, and finds the request again by it.
///
/// Slots are reused last in, first out, so that the table stays as small as the most requests that were ever open.
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

    /// Frees a slot and gives back its element; nil if the slot was free, which only a bug asks for.
    mutating func remove(_ slot: Int) -> Element? {
        guard elements.indices.contains(slot), let element = elements[slot].take() else { return nil }
        free.append(slot)
        count -= 1
        return element
    }

    /// Whether an element is as wanted; looks at all of them.
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
