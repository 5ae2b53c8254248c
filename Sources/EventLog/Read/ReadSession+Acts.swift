// MARK: - Acts

extension ReadSession {
    /// The newest act of a kind for each value of one of its attributes. The acts of the kind are numbered by their attribute
    /// `number`, from 1 on in the log.
    ///
    /// Cost: O(lanes), so a log without such acts is not read. Where the note beside the acts does not name them, as after a
    /// salvage, O(events).
    ///
    /// - Throws: `EventLogError` if the log cannot be read.
    package func newestActs(_ kind: EventKind, by attribute: String) throws -> [String: RecordedEvent] {
        var newest: [String: (number: Int, lane: UInt32)] = [:]
        for (place, lane) in try lanes().enumerated() where lane.isAct && lane.kind == kind {
            guard let value = lane.attributes[attribute], let number = lane.attributes["number"].flatMap({ Int($0) })
            else {
                continue
            }
            if let known = newest[value], known.number >= number { continue }
            newest[value] = (number, UInt32(clamping: place))
        }
        if newest.isEmpty { return [:] }
        var sequences = try notedActs(of: newest)
        if newest.count > sequences.count, head != .zero {
            var wanted: [UInt32: String] = [:]
            for (value, act) in newest { wanted[act.lane] = value }
            try reader.forEachRecord(in: 1...head.rawValue) { sequence, record in
                // Of two acts with one number the later counts.
                if let value = wanted[record.laneNumber] { sequences[value] = sequence }
                return true
            }
        }
        var acts: [String: RecordedEvent] = [:]
        for (value, sequence) in sequences { acts[value] = try event(at: SequenceNumber(sequence)) }
        return acts
    }

    /// The greatest number that acts of a kind have; 0 without any.
    package func lastActNumber(_ kind: EventKind) throws -> Int {
        try lanes().reduce(0) { last, lane in
            guard lane.isAct, lane.kind == kind else { return last }
            return max(last, lane.attributes["number"].flatMap { Int($0) } ?? 0)
        }
    }

    private func lanes() throws -> [Lane] {
        try reader.lanes.load(from: reader)
        // Other sessions of the process may have seen later lanes (I6).
        return Array(reader.lanes.known.prefix(Int(clamping: try reader.view.count(of: reader.tables.lanes))))
    }

    /// The sequences that the note of the newest acts gives for some of them.
    private func notedActs(of newest: [String: (number: Int, lane: UInt32)]) throws -> [String: UInt64] {
        var sequences: [String: UInt64] = [:]
        guard let note = try? bookmark(of: .logtool) else { return [:] }
        for start in stride(from: 0, to: note.count - note.count % 8, by: 8) {
            let sequence = note[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard (1...head.rawValue).contains(sequence),
                let lane = try reader.withRecord(at: sequence, { $0.laneNumber })
            else { continue }
            for (value, act) in newest where act.lane == lane {
                sequences[value] = max(sequences[value] ?? 0, sequence)
            }
        }
        return sequences
    }
}
