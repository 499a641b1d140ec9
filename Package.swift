// swift-tools-version: 6.2
import PackageDescription

/// One dialect for every target: Swift 6 mode, explicit existentials, explicit imports, warnings as errors.
let dialect: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

/// What modules on the way of a job are built with besides, in release builds: no checks at run time for overlapping
/// accesses to one variable. Debug builds, and so all tests, have them.
let unchecked: [SwiftSetting] = [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))]

/// A library target of this package, in the order of the arrows: a module imports only what stands above it.
func module(
    _ name: String, _ dependencies: [Target.Dependency] = [], _ settings: [SwiftSetting] = unchecked,
    resources: [Resource] = []
) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: dialect + settings)
}

/// A test target; every one may use `TestSupport`.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestSupport"],
        exclude: ["FaultTests": ["run"], "PushWorkerTests": ["alerts.yaml"]][name] ?? [],
        resources: name == "FuzzTests"
            ? [.copy("Corpus")]
            : ["PushModelTests", "BrokerTests", "APNSSimulatorTests"].contains(name) ? [.copy("Fixtures")] : [],
        swiftSettings: dialect)
}

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let collections = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let histogram = Target.Dependency.product(name: "Histogram", package: "hdrhistogram-swift")

let package = Package(
    name: "martlet",
    products: [.executable(name: "martlet", targets: ["martlet"])],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
    ],
    targets: [
        // What Glibc's module hides, and the three C libraries: each imported by its one bridge only.
        .target(name: "CLinux"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CNGHTTP2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "CRabbitMQ", pkgConfig: "librabbitmq", providers: [.apt(["librabbitmq-dev"])]),

        module("Buffers"),
        module("Text"),
        module("EventLoop", ["CLinux", heap]),
        module("TLS", ["COpenSSL", "Buffers", "Text"]),
        module("HTTP2", ["CNGHTTP2"]),
        module("RabbitMQ", ["CRabbitMQ", "Buffers", "Text", "EventLoop"]),
        module("BrokerClient", ["EventLoop", "TLS", "RabbitMQ"], []),
        module("PushModel", ["TLS", "Text"]),
        module("WebClient", [], []),
        module("Topology", ["Text", "PushModel", "WebClient"], []),
        module("TraceExport", ["Text", "WebClient", collections], []),
        module("APNSClient", ["Text", "EventLoop", "TLS", "HTTP2", "PushModel"]),
        module(
            "APNSSimulator", ["Text", "EventLoop", "TLS", "HTTP2", logging, hummingbird, yams, lifecycle], [],
            resources: [.embedInCode("Admin/Page")]),
        module(
            "WorkerSettings",
            ["Text", "EventLoop", "TLS", "RabbitMQ", "PushModel", "Topology", "APNSClient", logging, yams], []),
        module(
            "PushWorker",
            [
                "Text", "EventLoop", "TLS", "RabbitMQ", "BrokerClient", "PushModel", "Topology", "TraceExport",
                "APNSClient", "WorkerSettings",
                collections, heap, logging, lifecycle, hummingbird,
            ]),
        module("LocalStack", ["TLS"], []),
        module(
            "Rig",
            [
                "Text", "EventLoop", "TLS", "RabbitMQ", "BrokerClient", "PushModel", "Topology", "APNSSimulator",
                "LocalStack",
                histogram,
            ], []),
        module(
            "MartletCommands",
            [
                "Text", "EventLoop", "TLS", "HTTP2", "RabbitMQ", "BrokerClient", "PushModel", "Topology", "APNSClient",
                "WorkerSettings", "PushWorker", "APNSSimulator", "LocalStack", "Rig",
                argumentParser, hummingbird,
                logging, lifecycle, unixSignals, histogram,
            ], [],
            // Links to schemas of config/contract, which the help topics print; and the page of the dashboard.
            resources: [.embedInCode("Contract"), .embedInCode("Dashboard/Page")]),
        // The program's first line, and the pages.
        .executableTarget(name: "martlet", dependencies: ["MartletCommands"], swiftSettings: dialect),

        .target(
            name: "TestSupport", dependencies: ["EventLoop", "TLS", "RabbitMQ", "LocalStack", logging],
            path: "Tests/TestSupport", swiftSettings: dialect),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "Text", "EventLoop", "TLS", "HTTP2", "RabbitMQ", "PushModel", "Topology", "APNSClient",
                "WorkerSettings", "PushWorker", "APNSSimulator",
            ],
            path: "Tests/FuzzTargets", swiftSettings: dialect),
        tests("FuzzTests", ["FuzzTargets"]),
        .target(
            name: "Simulation",
            dependencies: [
                "Text", "EventLoop", "TLS", "HTTP2", "RabbitMQ", "BrokerClient", "PushModel", "Topology", "APNSClient",
                "WorkerSettings", "PushWorker", "APNSSimulator", "LocalStack", "TestSupport",
                collections, heap, logging,
            ],
            path: "Tests/Simulation", swiftSettings: dialect),
        .executableTarget(
            name: "simulate", dependencies: ["Simulation", argumentParser], path: "Tests/Simulate",
            exclude: ["mutants", "seeds.txt"], swiftSettings: dialect),
        tests("SimulationTests", ["Simulation", "EventLoop", "LocalStack"]),
        tests("BuffersTests", ["Buffers"]),
        tests("TextTests", ["Text"]),
        tests("EventLoopTests", ["EventLoop", "Text"]),
        tests("TLSTests", ["TLS", "Text", "EventLoop", "LocalStack"]),
        tests("HTTP2Tests", ["HTTP2", "Text"]),
        tests("RabbitMQTests", ["RabbitMQ", "EventLoop"]),
        tests("BrokerClientTests", ["BrokerClient", "RabbitMQ", "EventLoop", "TLS", "LocalStack"]),
        tests("PushModelTests", ["PushModel", "Text"]),
        tests("WebClientTests", ["WebClient", "EventLoop"]),
        tests("TopologyTests", ["Topology", "PushModel", "LocalStack", yams]),
        tests("TraceExportTests", ["TraceExport"]),
        tests(
            "APNSClientTests",
            ["APNSClient", "APNSSimulator", "Text", "EventLoop", "TLS", "HTTP2", "PushModel", "LocalStack"]),
        tests("APNSSimulatorTests", ["APNSSimulator", "Text", "EventLoop", "TLS", "HTTP2", "LocalStack"]),
        tests(
            "WorkerSettingsTests",
            [
                "WorkerSettings", "Topology", "RabbitMQ", "PushModel", "APNSClient", "EventLoop", "TLS", "LocalStack",
                logging,
            ]),
        tests(
            "PushWorkerTests",
            [
                "PushWorker", "WorkerSettings", "Topology", "TraceExport", "RabbitMQ", "BrokerClient", "PushModel",
                "APNSClient", "APNSSimulator", "Text", "EventLoop", "TLS", "LocalStack",
                logging, lifecycle,
            ]),
        tests("LocalStackTests", ["LocalStack"]),
        tests("RigTests", ["Rig"]),
        tests(
            "MartletCommandsTests",
            [
                "martlet", "MartletCommands", "PushWorker", "WorkerSettings", "APNSSimulator", "EventLoop", "TLS",
                "PushModel", "Topology",
                "LocalStack", "Rig", "RabbitMQ", "BrokerClient",
                argumentParser, histogram,
            ]),
        tests(
            "BrokerTests",
            [
                "martlet", "MartletCommands", "PushWorker", "WorkerSettings", "Topology", "TraceExport",
                "APNSSimulator", "RabbitMQ", "BrokerClient", "PushModel", "LocalStack", "Rig", "Text", "EventLoop",
                "TLS", "HTTP2",
                logging, lifecycle,
            ]),
        tests(
            "FaultTests",
            [
                "martlet", "MartletCommands", "APNSSimulator", "RabbitMQ", "BrokerClient", "PushModel", "Topology",
                "PushWorker", "LocalStack", "Rig", "Text", "EventLoop", "TLS",
            ]),
    ]
)

// Only where the fuzzer is asked for (`make fuzz`): its main function comes from libFuzzer.
if Context.environment["MARTLET_FUZZ"] != nil {
    package.products.append(.executable(name: "fuzz", targets: ["Fuzz"]))
    package.targets.append(
        .executableTarget(
            name: "Fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz", exclude: ["run"],
            swiftSettings: dialect + [.unsafeFlags(["-parse-as-library"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]))
}

// For `make check M=PushModel`: one module, its tests and what they need. The other targets and packages are left out.
if let module = Context.environment["MARTLET_ONLY"] {
    guard package.targets.contains(where: { $0.name == "\(module)Tests" }) else {
        fatalError("there is no module \(module) with tests; see `ls Sources`")
    }
    var (targets, packages): (Set<String>, Set<String>) = ([], [])
    func want(_ name: String) {
        guard targets.insert(name).inserted else { return }
        for dependency in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
            switch dependency {
            case .targetItem(let name, _), .byNameItem(let name, _): want(name)
            case .productItem(_, let package, _, _): if let package { packages.insert(package) }
            @unknown default: break
            }
        }
    }
    want("\(module)Tests")
    package.targets.removeAll { !targets.contains($0.name) }
    package.products.removeAll { !targets.contains($0.name) }
    package.dependencies.removeAll {
        guard case .sourceControl(_, let location, _) = $0.kind else { return true }
        return !packages.contains { location.hasSuffix("/\($0)") }
    }
}
