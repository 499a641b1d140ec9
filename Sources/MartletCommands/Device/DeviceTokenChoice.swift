import ArgumentParser

/// Which device tokens the simulator takes.
enum DeviceTokenChoice: String, CaseIterable, ExpressibleByArgument {
    /// Made-up ones, too.
    case any
    /// Those it has issued.
    case issued
}
