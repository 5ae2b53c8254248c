import Clients
import EventLog
import Foundation
import Projections
import TestSupport
import Testing

@testable import Reduction
@testable import logtool

/// A known bug of an app: a scenario's events among normal traffic, and what tells that a client shows it.
struct PlantedBug: CustomTestStringConvertible, Sendable {
    /// The bug's name in `docs/bugs.md` or `docs/profiles.md`.
    let name: String
    let scenario: String
    let profile: Profile
    /// What one of the two readings shows and the other does not.
    let expression: String
    /// Whether the client shows it; else only the canonical reading does.
    var isTheClients = true
    /// Whether the bug is where the readings part; else where the expression begins to hold.
    var isFoundByReading = false

    var testDescription: String { name }

    /// One of each app, then another of each.
    static let all = [
        PlantedBug(
            name: "VibeChannel VC-B01",
            scenario: "vibechannel-edit-writes-local-date",
            profile: .vibechannelIOS,
            expression: "exists(messages[\"app/general/20250304T050607-ann-0a1b2c\"])",
            isTheClients: false,
            isFoundByReading: true
        ),
        PlantedBug(
            name: "Punchlist PL-B19",
            scenario: "punchlist-last-item-leaves",
            profile: .punchlistIOS,
            expression: "exists(items[\"app/app/wrk-00a1\"])",
            isFoundByReading: true
        ),
        PlantedBug(
            name: "VibeStatus V13",
            scenario: "vibestatus-file-empty-at-the-end",
            profile: .vibestatusMac,
            expression: "exists(sessions[\"app/vibestatus-3f2a.json\"])",
            isTheClients: false,
            isFoundByReading: true
        ),
        PlantedBug(
            name: "sideBar C11",
            scenario: "sidebar-pin-without-content",
            profile: .sidebarIOS,
            expression: "rows[\"app/notes/7d0c0000-0000-4000-8000-000000000001\"].record.content == \"\""
        ),
        PlantedBug(
            name: "Retrocast B3",
            scenario: "retrocast-message-created-twice",
            profile: .retrocastIOS,
            expression: "exists(messages[\"app/135653857706512384/153833649995911168#2\"])"
        ),
        PlantedBug(
            name: "VibeChannel VC-D53",
            scenario: "vibechannel-replies-by-file-name",
            profile: .vibechannelVSCode,
            expression: "messages[\"app/general/d53\"].replyTo.id == \"./x\""
        ),
        PlantedBug(
            name: "Punchlist PL-D05",
            scenario: "punchlist-bad-element-freezes-the-list",
            profile: .punchlistIOS,
            expression: "exists(items[\"app/app/wrk-00c3\"])",
            isTheClients: false,
            isFoundByReading: true
        ),
        PlantedBug(
            name: "VibeStatus V14",
            scenario: "vibestatus-paused-is-no-status",
            profile: .vibestatusMac,
            expression: "exists(sessions[\"app/vibestatus-3f2a.json\"])",
            isTheClients: false,
            isFoundByReading: true
        ),
        PlantedBug(
            name: "sideBar S14",
            scenario: "sidebar-website-loses-its-transcripts",
            profile: .sidebarIOS,
            expression: "exists(rows[\"app/websites/w1\"].record.metadata) "
                + "and not exists(rows[\"app/websites/w1\"].record.metadata.youtube_transcripts)"
        ),
        PlantedBug(
            name: "Retrocast B11",
            scenario: "retrocast-create-edit-delete-out-of-order",
            profile: .retrocastWeb,
            expression: "exists(messages[\"app/135653857706512384/153833649995911168\"])"
        ),
        PlantedBug(
            name: "VibeStatus V16",
            scenario: "vibestatus-prompt-with-a-raw-quote",
            profile: .vibestatusMac,
            expression: "exists(prompts[\"app/vibestatus-prompt-3f2a.json\"])",
            isTheClients: false
        ),
        PlantedBug(
            name: "sideBar S6",
            scenario: "sidebar-update-of-an-unknown-note",
            profile: .sidebarWeb,
            expression: "exists(rows[\"app/notes/n9\"])",
            isTheClients: false
        ),
        PlantedBug(
            name: "Retrocast D12",
            scenario: "retrocast-update-of-an-unseen-message",
            profile: .retrocastWeb,
            expression: "exists(messages[\"app/135653857706512384/153833654190215168\"])",
            isTheClients: false
        ),
    ]

    /// What `bisect` is asked.
    var bisectArguments: [String] {
        if isFoundByReading { return ["--against", "#\(profile.rawValue)"] }
        return ["--when", expression, "--profile", (isTheClients ? profile : .canonical).rawValue]
    }

    /// What `shrink` is asked: the expression holds in one reading and not in the other.
    var shrinkArguments: [String] {
        let readings = [Profile.canonical, profile]
        let (own, other) = isTheClients ? (readings[1], readings[0]) : (readings[0], readings[1])
        return ["--when", expression, "--profile", own.rawValue, "--against", "#\(other.rawValue)"]
    }

    /// Makes a log of so many events with the bug's among them.
    ///
    /// - Returns: Where the bug's events are.
    func plant(in folder: TemporaryDirectory, noise count: Int, seed: UInt64) throws -> ClosedRange<UInt64> {
        let own = try bugEvents()
        var traffic = try NormalTraffic(scenario, around: own, seed: seed)
        let store = try EventStore.openOrCreate(at: folder.path("L"))
        let place = traffic.place(among: count)
        try store.append(inBatches: try traffic.drafts(place, around: own[0].recordedAt, before: true))
        try store.append(inBatches: try traffic.joined(own))
        try store.append(
            inBatches: try traffic.drafts(count - place, around: own[own.count - 1].recordedAt, before: false)
        )
        return UInt64(place + 1)...UInt64(place + own.count)
    }

    private func bugEvents() throws -> [DraftEvent] {
        let folder = try TemporaryDirectory()
        let store = try Scenario(folder: PackageRoot.scenarios.appending(path: scenario)).log(in: folder)
        return try store.read { try Candidate.whole(of: $0) }.events.map(\.draft)
    }
}

extension EventStore {
    fileprivate func append(inBatches drafts: [DraftEvent]) throws {
        for start in stride(from: 0, to: drafts.count, by: 5000) {
            _ = try append(Array(drafts[start..<min(start + 5000, drafts.count)]))
        }
    }
}
