import DequeModule
import PushModel

/// Two lists of waiting elements, one for each class of jobs. The elements of class `high` come before all others.
struct ByClass<Element> {
    private var high = Deque<Element>()
    private var normal = Deque<Element>()

    /// Two empty lists.
    init() {}

    /// The first of a list; nil where the list is empty.
    func first(of jobClass: JobClass) -> Element? { jobClass == .high ? high.first : normal.first }

    /// The last of a list; nil where the list is empty.
    func last(of jobClass: JobClass) -> Element? { jobClass == .high ? high.last : normal.last }

    /// Whether a list has anything.
    func hasAny(_ jobClass: JobClass) -> Bool { !(jobClass == .high ? high.isEmpty : normal.isEmpty) }

    /// Adds one element at the end of a list.
    mutating func append(_ element: Element, to jobClass: JobClass) {
        if jobClass == .high { high.append(element) } else { normal.append(element) }
    }

    /// Adds one element before all others of a list.
    mutating func prepend(_ element: Element, to jobClass: JobClass) {
        if jobClass == .high { high.prepend(element) } else { normal.prepend(element) }
    }

    /// Takes out the first of a list; nil where the list is empty.
    mutating func popFirst(of jobClass: JobClass) -> Element? {
        jobClass == .high ? high.popFirst() : normal.popFirst()
    }

    /// Takes out the last of a list; nil where the list is empty.
    mutating func popLast(of jobClass: JobClass) -> Element? {
        jobClass == .high ? high.popLast() : normal.popLast()
    }

    /// Takes out one element, by its position in both lists together.
    mutating func remove(at position: Int) -> Element {
        position < high.count ? high.remove(at: position) : normal.remove(at: position - high.count)
    }

    /// Removes the elements that are not wanted any more, from the `high` list first.
    mutating func removeAll(where isUnwanted: (Element) -> Bool) {
        high.removeAll(where: isUnwanted)
        normal.removeAll(where: isUnwanted)
    }
}

extension ByClass: RandomAccessCollection {
    /// The position of the first of all.
    var startIndex: Int { 0 }
    /// The position behind the last of all.
    var endIndex: Int { high.count + normal.count }
    /// The element at a position.
    subscript(position: Int) -> Element {
        position < high.count ? high[position] : normal[position - high.count]
    }
}
