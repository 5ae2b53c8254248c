#if Recorders
import EventLog
import Foundation
import TestSupport
import Testing

@testable import Ingest

/// What a source under contract is recorded from: a loopback server or a folder, whose true events stay the same.
protocol ContractRemote: Sendable {
    /// What reaches the server; a folder has nothing to tell.
    var activity: Activity { get }
    /// The kinds whose payloads are the remote's own bytes.
    var kinds: Set<String> { get }
    /// Texts of which each must stand in the remote's own bytes in the end.
    var truths: [String] { get }
    /// Bytes with odd spaces, escapes and line ends, some no UTF-8: each a whole piece of the remote's own bytes.
    var odd: [[UInt8]] { get }
    /// All that it has sent; `nil` where the log holds documents made of it.
    var sent: Set<[UInt8]>? { get }
    /// What must never stand anywhere, as given to the recorder or as it stands in the remote's bytes.
    var secrets: [String] { get }
    /// Whether what is in the log is not recorded again by a restart, to the event.
    var isExact: Bool { get }
    /// Whether what the log holds is known again though the remote sends it again.
    var knowsRepeats: Bool { get }
    /// Whether the recorder lives in connections that nobody may keep when it ends.
    var isConnected: Bool { get }

    /// A recorder; without following it ends once it has everything.
    func source(follows: Bool) throws -> any LiveSource
    /// The remote's own bytes in an event of its kinds.
    func own(_ event: RecordedEvent) -> [[UInt8]]
    /// Makes the remote send everything again.
    func sendAgain() throws
    /// Makes the remote refuse what the recorder shows, quoting it where it can.
    func refuse()
    /// Ends it.
    func stop() async
}

extension ContractRemote {
    var activity: Activity { Activity() }
    var secrets: [String] { [] }
    var sent: Set<[UInt8]>? { nil }
    var isExact: Bool { true }
    var knowsRepeats: Bool { isExact }
    var isConnected: Bool { false }
    func own(_ event: RecordedEvent) -> [[UInt8]] { event.attribute("dir") == "out" ? [] : [event.payload] }
    func sendAgain() throws {}
    func refuse() {}
    func stop() async {}
}

/// Every source that is under the contract.
enum ContractSource: String, CaseIterable, CustomTestStringConvertible {
    case github, sse, status, cloudkit, gateway, realtime, git, capture

    var testDescription: String { rawValue }

    func start() async throws -> any ContractRemote {
        switch self {
        case .github: try await GitHubRemote.start()
        case .sse: try await EventStreamRemote.start()
        case .status: try StatusRemote()
        case .cloudkit: try await CloudKitRemote.start()
        case .gateway: try await GatewayRemote.start()
        case .realtime: try await RealtimeRemote.start()
        case .git: try GitRemote()
        case .capture: try CaptureRemote()
        }
    }
}

/// A source that is pulled, recorded as the live ones are.
struct PulledSource<Source: EventSource & Sendable>: LiveSource {
    let source: Source
    var name: SourceName { source.name }

    func run(_ recording: Recording) async throws {
        var drafts = try source.drafts(after: recording.history)
        while let item = try drafts.next() {
            _ = recording.clock.now()
            try Task.checkCancellation()
            try await recording.append([item])
        }
    }
}
#endif
