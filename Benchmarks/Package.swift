// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "eventlog-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "eventlog", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLMDBBaseline",
            pkgConfig: "lmdb",
            providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]
        ),
        .target(name: "CBaseline", dependencies: ["CLMDBBaseline"], cSettings: [.unsafeFlags(["-O3"])]),
        .executableTarget(
            name: "benchmark",
            dependencies: [
                "CBaseline",
                .product(name: "EventLog", package: "eventlog"),
                .product(name: "Ingest", package: "eventlog"),
                .product(name: "Projections", package: "eventlog"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]
        ),
    ]
)
