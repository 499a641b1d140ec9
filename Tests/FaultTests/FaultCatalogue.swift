/// All faults.
enum FaultCatalogue {
    /// Each of them.
    static let all =
        broker + network + results + topology + trust + apns + way + process + resources + time + load + neighbours
        + operation + control

    /// Why faults have no neighbour whose latency is judged: what happens happens to every route.
    static let withoutNeighbour: [(why: String, numbers: [Int])] = [
        ("the broker as a whole, or its majority", [1, 2, 3, 7, 8, 11, 12, 13, 14, 21, 26, 53, 155, 169]),
        ("the exchange or the queue of all routes' results", [16, 17, 18]),
        ("the network between worker and broker", [4, 5, 6, 9, 10, 15, 29, 33, 35, 55]),
        ("the network between worker and APNs", [180, 181]),
        ("the worker's login and trust", [25, 27, 28, 56]),
        ("all of the worker's channels", [22]),
        ("the worker's process", [24, 34, 51, 42, 43, 44, 45, 46, 48, 50, 142, 144, 146, 160, 167]),
        ("the worker's machine, its disk and its clock", [41, 47, 49, 165]),
    ]
}
