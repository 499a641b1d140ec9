/// Where programs are that tests need; without them the tests fail.
enum Program {
    static let curl = "/usr/bin/curl"
    static let h2load = "/usr/bin/h2load"
}
