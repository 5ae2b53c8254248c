/// Checks that acts name every event that is not whole (I7). Add everything first, then check. Memory: the payloads of
/// all acts, and what they name. Cost: one pass over them.
struct GapExplanation {
    /// By rewrite: the hash of the sequences that it dropped, so far.
    private var dropped: [UInt32: Hasher256] = [:]
    /// Events with a substitute, and the hash of the substitute, which an act must name.
    private var redacted: [SubstituteNames.Name] = []
    /// The payloads of acts, by sequence.
    private var acts: [UInt64: [UInt8]] = [:]

    /// Adds a run of dropped events. Runs must come in the order of their sequences.
    mutating func add(_ run: GapRun) {
        var hasher = dropped[run.rewrite] ?? Hasher256()
        for sequence in run.first...run.last {
            withUnsafeBytes(of: sequence.bigEndian) { hasher.update($0) }
        }
        dropped[run.rewrite] = hasher
    }

    mutating func addRedacted(_ sequence: UInt64, _ substituteHash: Hash256) {
        redacted.append(SubstituteNames.Name(sequence: sequence, hash: substituteHash))
    }

    mutating func addAct(_ sequence: UInt64, _ payload: [UInt8]) {
        acts[sequence] = payload
    }

    /// - Throws: `EventLogError` with code `damaged` if an act is missing or names other events.
    func check(_ reader: LogReader) throws {
        let sequences = try reader.acts()
        for (rewrite, hasher) in dropped.sorted(by: { $0.key < $1.key }) {
            guard rewrite > 0, rewrite <= sequences.count else {
                throw reader.damaged("events were dropped by rewrite \(rewrite), which no act tells of")
            }
            // The payload is not parsed: `docs/format.md` prescribes this very text.
            let name = "\"droppedHash\":\"\(hasher.finalize().hex)\""
            guard payload(of: sequences[Int(rewrite) - 1]).contains(Array(name.utf8)) else {
                throw reader.damaged("the act at \(sequences[Int(rewrite) - 1]) names other events than were dropped")
            }
        }
        if let unnamed = firstUnnamed(in: Array(acts.keys)) {
            throw reader.damaged("sequence \(unnamed) has a substitute that no act names")
        }
    }

    /// The first redacted event whose substitute none of some acts names; `nil` if all are named.
    private func firstUnnamed(in acts: [UInt64]) -> UInt64? {
        if redacted.isEmpty { return nil }
        var names = SubstituteNames()
        for act in acts { payload(of: act).withUnsafeBytes { names.add($0, of: act) } }
        return redacted.first { names.act(naming: $0) == nil }?.sequence
    }

    /// Checks that a part holds every act that it lists, and that these acts name all of its substitutes.
    ///
    /// - Throws: `EventLogError` with code `damaged`.
    func checkActs(of reader: LogReader) throws {
        let listed = try reader.acts()
        guard zip(listed, listed.dropFirst()).allSatisfy({ $0 < $1 }), listed.allSatisfy({ acts[$0] != nil }) else {
            throw reader.damaged("the log is a part, and lists acts that it does not hold")
        }
        if let unnamed = firstUnnamed(in: listed) {
            throw reader.damaged("sequence \(unnamed) has a substitute that no listed act names")
        }
    }

    /// The last rewrite's act, found by the members that only such an act has; `nil` without one.
    var lastRewrite: (sequence: UInt64, payload: [UInt8])? {
        let names = ["\"remains\":{", "\"droppedHash\":\"", "\"substituteHash\":\""].map { Array($0.utf8) }
        return acts.sorted { $0.key > $1.key }.first { act in names.contains { act.value.contains($0) } }
            .map { ($0.key, $0.value) }
    }

    private func payload(of act: UInt64) -> [UInt8] {
        acts[act] ?? []
    }
}
