// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableExperimentalFeature("Lifetimes"),
]

let package = Package(
    name: "eventlog",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "EventLog", targets: ["EventLog"]),
        .library(name: "Projections", targets: ["Projections"]),
        .library(name: "Ingest", targets: ["Ingest"]),
        .executable(name: "logtool", targets: ["logtool"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        .systemLibrary(
            name: "CLMDB",
            pkgConfig: "lmdb",
            providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]
        ),
        .target(
            name: "EventLog",
            dependencies: [
                "CLMDB",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "Projections",
            dependencies: [
                "EventLog",
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "Ingest",
            dependencies: ["EventLog"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "logtool",
            dependencies: [
                "EventLog", "Ingest", "Projections",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "TestSupport",
            dependencies: ["EventLog"],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        .testTarget(
            name: "EventLogTests",
            dependencies: ["EventLog", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ProjectionsTests",
            dependencies: ["Projections", "EventLog", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "IngestTests",
            dependencies: ["Ingest", "EventLog", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "LogToolTests",
            dependencies: [
                "logtool", "EventLog", "Projections", "Ingest", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
    ]
)
