/// The result of a restoration.
public struct RestorationResult: Sendable {
    /// How many events came back.
    public let restored: UInt64
    /// The acts of the compactions that were undone, the newest first.
    public let undone: [SequenceNumber]
    /// The act that names them.
    public let act: SequenceNumber
}

extension EventStore {
    /// Brings back what the newest compactions dropped, by their archives, in one rewrite (I9): the same events at the same
    /// sequences, and the facts from before. Appends go on meanwhile. A crash leaves the old log or the new one.
    ///
    /// - Parameters:
    ///   - archives: of the newest compaction, the one before, and so on; in any order.
    ///   - kinds: acts of these kinds behind a compaction forbid to bring back what it dropped.
    ///   - act: makes the act, which names the acts of the compactions and how many events came back. Its payload is a JSON
    ///     object, its source `logtool`.
    /// - Throws: `EventLogError` with code `invalidArgument` if an archive is another log's, is not that of a newest compaction, or
    ///   holds other events than were dropped; what the archives throw. The log is then unchanged.
    public func restore(
        _ archives: [Archive],
        barredBy kinds: Set<EventKind>,
        act: (_ undone: [SequenceNumber], _ restored: UInt64) -> DraftEvent
    ) throws -> RestorationResult {
        if try core.current.read({ try $0.isPart() }) { throw EventLogError.isPart("restore archives into", path) }
        return try rewriting { old, number in
            let target = try core.generation(number, creates: true)
            let (restoration, head) = try old.read { reader in
                (
                    try Restoration(archives, into: reader, barredBy: kinds, path: path),
                    SequenceNumber(try reader.head())
                )
            }
            let undone = restoration.undone.map { SequenceNumber($0) }
            let plan = RewritePlan(dropped: [], decidedAt: head, act: act(undone, restoration.count))
            try plan.check(path: path)
            let copy = try decidedCopy(plan, from: old, to: target, restoring: restoration)
            let result = try switchOver(plan, copy, from: old, to: target)
            return RestorationResult(restored: restoration.count, undone: undone, act: result.act)
        }
    }

    /// Makes a log with what archives bring back, for reading alone: the head stays the same, since no act is appended.
    ///
    /// - Parameter path: of an empty folder, which the caller removes once the log is not needed any more.
    /// - Throws: as `restore`.
    public func restoredCopy(
        of archives: [Archive],
        barredBy kinds: Set<EventKind>,
        in scratch: String
    ) throws -> EventStore {
        try EventLogError.wrapping("restore archives of", path) {
            try makeCopy(of: archives, barredBy: kinds, in: LogDirectory(Folder(at: scratch)))
            return try EventStore.open(at: scratch, options: options)
        }
    }

    private static let kindOfNoAct = EventKind("logtool.none/1" as StaticString)

    /// Makes the files of the copy. They are closed again when it returns, because a process may open a log only once.
    private func makeCopy(of archives: [Archive], barredBy kinds: Set<EventKind>, in directory: LogDirectory) throws {
        let old = core.current
        _ = try directory.folder.makeFolder(LogDirectory.generationName(1))
        let target = try Generation(
            directory: directory,
            number: 1,
            access: .create,
            pages: .own,
            lanes: LaneInterner()
        )
        let (restoration, head) = try old.read { reader in
            (try Restoration(archives, into: reader, barredBy: kinds, path: path), SequenceNumber(try reader.head()))
        }
        // The copy ends before an act would be appended.
        let act = DraftEvent(recordedAt: Timestamp(seconds: 0), source: .logtool, kind: Self.kindOfNoAct, payload: [])
        let plan = RewritePlan(dropped: [], decidedAt: head, act: act)
        let copy = try decidedCopy(plan, from: old, to: target, restoring: restoration)
        try copy.write { transaction, tables in
            // Without the acts of the compactions, the facts are those that the last act names.
            let acts = restoration.acts.flatMap { act in withKey(act) { Array($0) } }
            try transaction.putMeta(acts, named: MetaName.acts, in: tables.meta)
        }
        _ = try directory.folder.makeFolder(LogDirectory.sources)
        try directory.write(LogFormat(identity: identity, isSealed: target.isSealed()))
    }

    /// Whether the log holds every event of an archive, so that there is nothing to bring back. Reads the archive to its end, or
    /// to the first event that the log lacks or has otherwise.
    ///
    /// - Throws: what the archive throws; `EventLogError` if the log cannot be read.
    public func holdsAll(of archive: Archive) throws -> Bool {
        try read { session in
            guard try session.identity() == archive.header.identity,
                session.decidedAt < SequenceNumber(archive.header.size)
            else {
                return false
            }
            while let piece = try archive.next() {
                guard case .event(let event) = piece else { continue }
                let sequence = event.envelope.sequence
                guard sequence > .zero, sequence <= session.head, try session.holding(at: sequence) != .dropped,
                    try session.leafHash(at: sequence) == event.leafHash
                else { return false }
            }
            return true
        }
    }
}
