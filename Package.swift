// swift-tools-version: 6.1
import PackageDescription

/// Without `MemberImportVisibility`, which takes `struct stat` for a part of Dispatch wherever the compiler happens to load
/// Dispatch before the C library.
let settingsOfSystemCalls: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableExperimentalFeature("Lifetimes"),
]

/// The core as for release also in a build for debugging, in which all tests take a third of the time. For `scripts/test` alone: a
/// package with such flags cannot be a dependency.
let optimized: [SwiftSetting] =
    Context.environment["EVENTLOG_OPTIMIZED_CORE"] == nil ? [] : [.unsafeFlags(["-O", "-assert-config", "Debug"])]

let settings = settingsOfSystemCalls + [.enableUpcomingFeature("MemberImportVisibility")]

/// Dependencies of live recording alone: without the trait they are neither fetched nor built.
let recorders = TargetDependencyCondition.when(traits: ["Recorders"])

/// The C library of NATS: without the trait it need not be installed.
let nats = TargetDependencyCondition.when(traits: ["NATS"])

let package = Package(
    name: "eventlog",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "CacheTables", targets: ["CacheTables"]),
        .library(name: "EventLog", targets: ["EventLog"]),
        .library(name: "Projections", targets: ["Projections"]),
        .library(name: "Clients", targets: ["Clients"]),
        .library(name: "Ingest", targets: ["Ingest"]),
        .library(name: "Playback", targets: ["Playback"]),
        .library(name: "Reduction", targets: ["Reduction"]),
        .library(name: "Redaction", targets: ["Redaction"]),
        .library(name: "Joining", targets: ["Joining"]),
        .library(name: "Shipping", targets: ["Shipping"]),
        .library(name: "JetStream", targets: ["JetStream"]),
        .library(name: "Viewer", targets: ["Viewer"]),
        .library(name: "EventLogCache", targets: ["EventLogCache"]),
        .library(name: "EventLogTesting", targets: ["EventLogTesting"]),
        .executable(name: "logtool", targets: ["logtool"]),
        .library(name: "WriteTrace", type: .dynamic, targets: ["WriteTrace"]),
    ],
    traits: [
        .default(enabledTraits: ["Recorders"]),
        .trait(name: "Recorders", description: "Record live over HTTP, TLS and WebSocket; needs SwiftNIO."),
        .trait(name: "NATS", description: "Ship and pull through NATS JetStream; needs libnats."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLMDB",
            pkgConfig: "lmdb",
            providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]
        ),
        .systemLibrary(name: "CLibCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CLibYAML",
            pkgConfig: "yaml-0.1",
            providers: [.apt(["libyaml-dev"]), .brew(["libyaml"])]
        ),
        .systemLibrary(
            name: "CZstd",
            pkgConfig: "libzstd",
            providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]
        ),
        .systemLibrary(
            name: "CNATS",
            pkgConfig: "libnats",
            providers: [.apt(["libnats-dev"]), .brew(["cnats"])]
        ),
        // Without pkg-config: macOS has it in its SDK.
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "JSON", swiftSettings: settings + optimized),
        .target(
            name: "EventLog",
            dependencies: [
                "CLMDB", "CZstd", "JSON", .target(name: "CLibCrypto", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settingsOfSystemCalls + optimized
        ),
        .target(name: "Kinds", dependencies: ["EventLog"], swiftSettings: settings + optimized),
        .target(
            name: "Projections",
            dependencies: ["CLibYAML", "EventLog", "JSON", "Kinds"],
            swiftSettings: settings + optimized
        ),
        .target(name: "Clients", dependencies: ["EventLog", "JSON", "Kinds", "Projections"], swiftSettings: settings),
        .target(
            name: "Ingest",
            dependencies: [
                "CZlib", "EventLog", "JSON", "Kinds",
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: recorders),
                .product(name: "Logging", package: "swift-log", condition: recorders),
                .product(name: "Metrics", package: "swift-metrics", condition: recorders),
                .product(name: "NIOCore", package: "swift-nio", condition: recorders),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: recorders),
                .product(name: "NIOPosix", package: "swift-nio", condition: recorders),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: recorders),
                .product(name: "NIOWebSocket", package: "swift-nio", condition: recorders),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "Playback",
            dependencies: [
                "EventLog", "Ingest", "Kinds", "Projections",
                .product(name: "NIOCore", package: "swift-nio", condition: recorders),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: recorders),
                .product(name: "NIOPosix", package: "swift-nio", condition: recorders),
                .product(name: "NIOWebSocket", package: "swift-nio", condition: recorders),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "Reduction",
            dependencies: ["Clients", "EventLog", "Kinds", "Projections"],
            swiftSettings: settings
        ),
        .target(
            name: "Redaction",
            dependencies: ["EventLog", "JSON", "Kinds", "Projections"],
            swiftSettings: settings
        ),
        .target(name: "Joining", dependencies: ["EventLog", "JSON", "Projections"], swiftSettings: settings),
        .target(
            name: "Shipping",
            dependencies: ["EventLog", "JSON", .target(name: "CLibCrypto", condition: .when(platforms: [.linux]))],
            swiftSettings: settings
        ),
        .target(
            name: "JetStream",
            dependencies: ["EventLog", "Shipping", .target(name: "CNATS", condition: nats)],
            swiftSettings: settings
        ),
        .target(
            name: "Viewer",
            dependencies: ["CZlib", "EventLog", "JSON", "Kinds", "Projections"],
            resources: [
                .embedInCode("Web/unpack.js"), .embedInCode("Web/texts.js"), .embedInCode("Web/elements.js"),
                .embedInCode("Web/data.js"), .embedInCode("Web/rows.js"), .embedInCode("Web/chunked.js"),
                .embedInCode("Web/served.js"), .embedInCode("Web/filed.js"), .embedInCode("Web/axis.js"),
                .embedInCode("Web/work.js"), .embedInCode("Web/chat.js"), .embedInCode("Web/event.js"),
                .embedInCode("Web/finds.js"), .embedInCode("Web/page.js"), .embedInCode("Web/page.css"),
                .embedInCode("Web/page.html"), .embedInCode("Web/entries.js"), .embedInCode("Web/change.js"),
                .embedInCode("Web/audit.js"), .embedInCode("Web/audit.css"), .embedInCode("Web/audit.html"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "CacheTables",
            dependencies: [
                "Clients", "EventLog", "JSON", "Kinds", "Projections",
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "EventLogTesting",
            dependencies: ["Clients", "EventLog", "Ingest", "Projections"],
            swiftSettings: settings
        ),
        .target(
            name: "EventLogCache",
            dependencies: ["Clients", "EventLog", "Projections", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "logtool",
            dependencies: [
                "CacheTables", "Clients", "EventLog", "EventLogTesting", "Ingest", "JSON", "JetStream", "Joining",
                "Kinds", "Playback",
                "Projections", "Redaction", "Reduction", "Shipping", "Viewer",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log", condition: recorders),
                .product(name: "Metrics", package: "swift-metrics", condition: recorders),
                .product(name: "NIOCore", package: "swift-nio", condition: recorders),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: recorders),
                .product(name: "NIOPosix", package: "swift-nio", condition: recorders),
                .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: recorders),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "TestSupport",
            dependencies: ["EventLog"],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        .target(name: "WriteTrace", path: "Tests/WriteTrace"),
        .executableTarget(
            name: "StateTrace",
            dependencies: ["EventLog", "Projections"],
            path: "Tests/StateTrace",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "LogWorker",
            dependencies: ["EventLog"],
            path: "Tests/LogWorker",
            swiftSettings: settings
        ),
        .target(name: "CBaseline", dependencies: ["CLMDB"], path: "Benchmarks/Sources/CBaseline"),
        .executableTarget(
            name: "benchmark",
            dependencies: [
                "CBaseline", "Chromium", "EventLog", "EventLogCache", "Ingest", "JSON", "Projections",
                .target(name: "CLibCrypto", condition: .when(platforms: [.linux])),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log", condition: recorders),
                .product(name: "NIOCore", package: "swift-nio", condition: recorders),
                .product(name: "NIOPosix", package: "swift-nio", condition: recorders),
                .product(name: "NIOWebSocket", package: "swift-nio", condition: recorders),
            ],
            path: "Benchmarks/Sources/benchmark",
            exclude: ["families.py"],
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]
        ),
        .testTarget(
            name: "EventLogTests",
            dependencies: ["EventLog", "LogWorker", "TestSupport"],
            swiftSettings: settings
        ),
        .target(name: "Chromium", path: "Tests/Chromium", swiftSettings: settings),
        .testTarget(name: "JSONTests", dependencies: ["JSON", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "ProjectionsTests",
            dependencies: [
                "Projections", "Clients", "EventLog", "JSON", "Kinds", "TestSupport",
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "IngestTests",
            dependencies: [
                "Ingest", "EventLog", "JSON", "TestSupport",
                .target(name: "CLibCrypto", condition: .when(platforms: [.linux])),
                .product(name: "Logging", package: "swift-log", condition: recorders),
                .product(name: "NIOCore", package: "swift-nio", condition: recorders),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: recorders),
                .product(name: "NIOPosix", package: "swift-nio", condition: recorders),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: recorders),
                .product(name: "NIOWebSocket", package: "swift-nio", condition: recorders),
            ],
            swiftSettings: settings
        ),
        // Sees what another package sees.
        .testTarget(
            name: "OutsideTests",
            dependencies: ["CacheTables", "EventLog", "Playback", "Projections", "Reduction", "TestSupport"],
            packageAccess: false,
            swiftSettings: settings
        ),
        .testTarget(
            name: "LogToolTests",
            dependencies: [
                "logtool", "Clients", "EventLog", "EventLogCache", "EventLogTesting", "Projections", "Ingest", "JSON",
                "Kinds",
                "CacheTables", "JetStream", "Joining", "Playback", "Redaction", "Reduction", "Shipping", "Viewer",
                "StateTrace",
                "Chromium", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
    ]
)
