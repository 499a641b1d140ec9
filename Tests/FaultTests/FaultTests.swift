import Rig
import TestSupport
import Testing

/// Everything that can go wrong around a worker goes wrong, and three ledgers show that nothing is lost.
///
/// `make faults` runs all of them; every change is tried on the quick ones.
@Suite("Faults", .serialized)
struct FaultTests {
    @Test(
        "Nothing is lost, and nothing happens twice without an explanation", .timeLimit(.minutes(5)),
        arguments: FaultSelection.faults.filter { !$0.isLong })
    func fault(_ fault: Fault) async throws { try await FaultBench.run(fault) }

    @Test(
        "Nothing is lost, and nothing happens twice without an explanation, for as long as it takes",
        .timeLimit(.minutes(75)), arguments: FaultSelection.faults.filter(\.isLong))
    func longFault(_ fault: Fault) async throws { try await FaultBench.run(fault) }

    @Test("Each fault has a neighbour whose latency is judged, or a reason why not", .timeLimit(.minutes(1)))
    func neighbours() {
        let with = FaultCatalogue.all.filter(\.setup.neighbour).flatMap(\.numbers)
        let without = FaultCatalogue.withoutNeighbour.flatMap(\.numbers)
        #expect((with + without).sorted() == FaultCatalogue.all.flatMap(\.numbers).sorted())
    }

    @Test("The page's table has a row for each fault of the catalogue, and no other", .timeLimit(.minutes(1)))
    func page() throws {
        let rows = try Page(documentation: "Faults").rows("no", in: "The table").map { "\($0[0]) \($0[1])" }
        #expect(rows.sorted() == (FaultCatalogue.all + [FaultCatalogue.random]).map(\.testDescription).sorted())
    }

    @Test("Each fault has one place in the catalogue", .timeLimit(.minutes(1)))
    func catalogue() {
        let numbers = FaultCatalogue.all.flatMap(\.numbers)
        #expect(numbers.count == Set(numbers).count)
        #expect(Set(1...56).subtracting(numbers).sorted() == [], "not injected")
        #expect(FaultSelection.faults("random").map(\.label) == ["random"])
        #expect(!FaultSelection.faults(nil).isEmpty)
        #expect(FaultSelection.faults("1,2").flatMap(\.numbers).sorted() == [1, 2])
        #expect(FaultSelection.faults("quick").map(\.label) == FaultSelection.faults(nil).map(\.label))
        #expect(FaultSelection.faults("quick,21").count == FaultSelection.faults("quick").count + 1)
        #expect(FaultSelection.faults("1,random").map(\.label) == ["1", "random"])
    }
}
