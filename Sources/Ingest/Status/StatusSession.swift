#if Recorders
import EventLog
import Logging

/// One run of a recorder of status files; makes its events. Used by one task.
struct StatusSession {
    private let recording: Recording
    /// The directory with a slash at the end; every recorded path begins with it.
    private let prefix: String
    private var journal: ConnectionJournal
    /// True from a failed look at the directory until a complete one.
    private var isUnreadable = false
    /// True once every file was looked at.
    private var hasScanned = false
    /// The hashes of the last recorded payloads, for the files that existed when they were recorded.
    private(set) var remembered: [[UInt8]: Hash256] = [:]

    init(_ recording: Recording, directory: String) throws {
        self.recording = recording
        prefix = directory.hasSuffix("/") ? directory : "\(directory)/"
        journal = try ConnectionJournal(
            source: recording.source,
            kind: .statusFile,
            history: recording.history,
            clock: recording.clock
        )
        try remember(recording.history)
    }

    /// Takes the last payloads' hashes from the log, because the bookmark holds none. Cost: reads the whole log once.
    private mutating func remember(_ history: RecordedHistory) throws {
        let prefix = prefix
        var remembered: [[UInt8]: Hash256] = [:]
        try history.forEachEvent { event in
            guard let path = event.envelope.attributes["path"], path.hasPrefix(prefix) else { return }
            let name = Self.bytes(
                ofEncoded: path.dropFirst(prefix.count),
                isEncoded: event.envelope.attributes["encoded"] != nil
            )
            if event.envelope.attributes["op"] == "remove" {
                remembered[name] = nil
            } else {
                remembered[name] = Hasher256.hash(event.payload)
            }
        }
        self.remembered = remembered
    }

    /// Opens the gap since the last run, if there was one, and a connection: the time in which the directory is
    /// observed.
    mutating func begin() async throws {
        let time = recording.clock.now()
        try journal.beginRun(topics: [nil], asksForPast: false, closes: "snapshot", at: time)
        try journal.open(at: time)
        try await append()
    }

    /// Records findings in their order, in one batch.
    mutating func take(_ findings: [StatusWatcher.Finding]) async throws {
        for finding in findings {
            switch finding {
            case .observation(let observation): try add(observation)
            case .scanned(let time): try scanned(at: time)
            case .heard(let time): journal.noteAlive(at: time)
            case .missed(let loss, let from, let time): try missed(loss, from: from, at: time)
            case .unreadable(let from, let time): try unreadable(from: from, at: time)
            }
        }
        try await append()
    }

    /// Records that the recorder stops, and opens the gap that the next run closes (I29).
    ///
    /// - Parameter error: why it gives up; `nil` if it was told to stop or is done.
    mutating func stop(_ error: (any Error)? = nil) async throws {
        let time = recording.clock.now()
        try journal.close(.ended(by: error), at: time)
        try journal.endRun(topics: [nil], closes: "snapshot", at: time)
        try await append()
    }
}

extension StatusSession {
    private mutating func add(_ observation: StatusObservation) throws {
        let (name, isEncoded) = UTF8Text.percentEncodingPath(observation.name)
        let path = prefix + String(decoding: name, as: UTF8.self)
        var pairs = [Attributes.Pair(name: "path", value: path)]
        if isEncoded { pairs.append(Attributes.Pair(name: "encoded", value: "true")) }
        // Without this attribute readers take the folder to be /tmp.
        if prefix != "/tmp/" { pairs.append(Attributes.Pair(name: "folder", value: prefix)) }
        switch observation.content {
        case .whole(let bytes):
            pairs.append(Attributes.Pair(name: "op", value: "write"))
            try journal.observation(bytes, pairs, at: observation.observedAt)
        case .absent:
            pairs.append(Attributes.Pair(name: "op", value: "remove"))
            try journal.observation([], pairs, at: observation.observedAt)
        case .oversize(let length, let hash):
            pairs.append(Attributes.Pair(name: "op", value: "write"))
            try journal.oversizeObservation(length: length, hash: hash, pairs, at: observation.observedAt)
        }
    }

    /// Closes the gaps: every file was looked at, so the log has the latest state of each.
    private mutating func scanned(at time: Timestamp) throws {
        if isUnreadable { recording.log.notice("the directory can be read again") }
        if !hasScanned { recording.log.info("watching") }
        (isUnreadable, hasScanned) = (false, true)
        journal.noteAlive(at: time)
        try journal.closeGaps(by: "snapshot", at: time) { _ in true }
    }

    private mutating func missed(_ loss: StatusWatcher.Loss, from: Timestamp, at time: Timestamp) throws {
        recording.log.warning("versions of files may be missing", metadata: ["reason": "\(loss.rawValue)"])
        try journal.openGap(loss.rawValue, from: from, closes: "snapshot", at: time)
    }

    /// Opens a gap at the first failed look; later ones belong to it.
    private mutating func unreadable(from: Timestamp, at time: Timestamp) throws {
        guard !isUnreadable else { return }
        isUnreadable = true
        recording.log.warning("the directory cannot be read")
        try journal.openGap("unreadable", from: from, closes: "snapshot", at: time)
    }

    private mutating func append() async throws {
        try await recording.append(journal.take())
    }

    /// The bytes of a recorded file name.
    private static func bytes(ofEncoded text: Substring, isEncoded: Bool) -> [UInt8] {
        isEncoded ? UTF8Text.restoringPath(Array(text.utf8)) : Array(text.utf8)
    }
}
#endif
