import EventLog
public import Projections

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A folder that holds what a remote sent and the state that it must give: a regression test of an app.
///
/// ```swift
/// @Test func aRepliedMessageShowsOnce() async throws {
///     try await Fixture(at: url).check()
/// }
/// ```
///
/// The folder has `events.ndjson` (exported events) or `capture.ndjson` (a capture, with a line `kind: …` in `about.md`), the state
/// document `expected.json`, and `expected.PROFILE.json` for each client whose reading it holds. `logtool freeze` makes one.
public struct Fixture: Sendable {
    /// Where it lies.
    public let directory: URL
    /// The readings whose state it holds, `canonical` first.
    public let profiles: [Profile]

    /// Finds a fixture.
    ///
    /// - Throws: `FixtureError` where the folder holds no events, or no expected state.
    public init(at directory: URL) throws {
        self.directory = directory
        let exists = { (name: String) in
            FileManager.default.fileExists(atPath: directory.appending(path: name).path)
        }
        guard exists(FixtureEvents.eventsName) || exists(FixtureEvents.captureName) else {
            throw FixtureError(
                directory,
                "it has neither \(FixtureEvents.eventsName) nor \(FixtureEvents.captureName)"
            )
        }
        let clients = Profile.allCases.filter { $0 != .canonical }.sorted { $0.rawValue < $1.rawValue }
        profiles = ([.canonical] + clients).filter { exists(Self.goldenName(of: $0)) }
        guard !profiles.isEmpty else {
            throw FixtureError(directory, "it has no expected.json; logtool check --update makes one")
        }
    }

    /// Replays the events by every reading that the fixture holds, and compares.
    ///
    /// - Throws: `FixtureMismatch` with the first difference and the event responsible for it; `FixtureError` where a file cannot be
    ///   read.
    public func check() async throws {
        for profile in profiles {
            if let mismatch = try mismatch(for: profile) { throw mismatch }
        }
    }

    /// What differs from the expected state of one reading; `nil` if nothing does.
    public func mismatch(for profile: Profile) throws -> FixtureMismatch? {
        let events = try FixtureEvents(in: directory)
        let found = try events.document(profile: profile)
        let file = golden(of: profile)
        guard let bytes = FileManager.default.contents(atPath: file.path) else {
            throw FixtureError(file, "it cannot be read")
        }
        if bytes.elementsEqual(Self.text(of: found).utf8) { return nil }
        let expected: JSONValue
        do {
            expected = try JSONValue.parse(Array(bytes))
        } catch {
            throw FixtureError(file, "\(error)")
        }
        return try FixtureMismatch(fixture: self, profile: profile, expected: expected, found: found, events: events)
    }

    /// Writes the state that the events give as the one that is expected.
    ///
    /// - Returns: Whether the file changed.
    public func update(_ profile: Profile) throws -> Bool {
        let text = Array(Self.text(of: try FixtureEvents(in: directory).document(profile: profile)).utf8)
        let file = golden(of: profile)
        guard FileManager.default.contents(atPath: file.path)?.elementsEqual(text) != true else { return false }
        try Partial.write(text, toFileAt: file.path)
        return true
    }

    /// The file with the expected state of one reading.
    public func golden(of profile: Profile) -> URL {
        directory.appending(path: Self.goldenName(of: profile))
    }

    static func goldenName(of profile: Profile) -> String {
        profile == .canonical ? "expected.json" : "expected.\(profile.rawValue).json"
    }

    /// The text of a state document as goldens have it: a row a line, so that a line-wise diff shows what changed.
    public static func text(of document: JSONValue) -> String { document.lines + "\n" }
}

/// Why a fixture cannot be used.
public struct FixtureError: Error, CustomStringConvertible {
    /// The file, what is wrong, and what to do.
    public let description: String

    init(_ file: URL, _ reason: String) {
        description = "check \"\(file.path)\": \(reason)"
    }
}
