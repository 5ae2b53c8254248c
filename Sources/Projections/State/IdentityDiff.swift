import EventLog

/// What one of two logs never received of a thing, by the ids that the remote gave it.
public struct IdentityDifference: Sendable {
    /// One of the two logs.
    public enum Side: Sendable {
        case first, second
    }

    /// The thing, as the log that has more of it names it.
    public let entity: EntityReference
    /// The log that lacks it.
    public let lacking: Side
    /// Whether that log never heard of the thing.
    public let isUnknown: Bool
    /// What happened to the thing that the log never received, oldest first.
    public let entries: [HistoryEntry]
}

/// Compares what two logs know of one remote. Names of sources, sequences and the order of arrival play no part.
///
/// A version of a thing is the same on both sides where it says the same; an end is the same where the cause is.
public enum IdentityDiff {
    /// What recorders see of passing things depends on when they were connected.
    private static let lasting = EntityReference.Kind.allCases.filter {
        ![.typing, .presence, .voice, .read, .issue].contains($0)
    }

    /// What each side lacks, by kind, source and id of the side that has it: first what the second lacks.
    public static func differences(_ first: Workspace, _ second: Workspace) -> [IdentityDifference] {
        lacking(.second, having: first, other: Known(second)) + lacking(.first, having: second, other: Known(first))
    }

    private static func lacking(
        _ side: IdentityDifference.Side,
        having state: Workspace,
        other: Known
    ) -> [IdentityDifference] {
        var other = other
        var differences: [IdentityDifference] = []
        forEachHistory(in: state) { entity, entries in
            let isUnknown = !other.knows(entity)
            let missing = entries.filter { !other.take(entity, $0) }
            guard !missing.isEmpty else { return }
            differences.append(
                IdentityDifference(entity: entity, lacking: side, isUnknown: isUnknown, entries: missing)
            )
        }
        return differences
    }

    fileprivate static func forEachHistory(
        in state: Workspace,
        _ body: (EntityReference, [HistoryEntry]) -> Void
    ) {
        for kind in lasting {
            state.forEachHistory(of: kind, body)
        }
    }

    /// What one log knows, by hashes: 40 bytes for each thing and each version of it.
    private struct Known {
        private var counts: [Hash256: Int] = [:]

        init(_ state: Workspace) {
            IdentityDiff.forEachHistory(in: state) { entity, entries in
                counts[Self.hash(entity, nil)] = 1
                for entry in entries { counts[Self.hash(entity, entry), default: 0] += 1 }
            }
        }

        func knows(_ entity: EntityReference) -> Bool { counts[Self.hash(entity, nil)] != nil }

        /// Whether the version is known, as often as it is asked for.
        mutating func take(_ entity: EntityReference, _ entry: HistoryEntry) -> Bool {
            let hash = Self.hash(entity, entry)
            guard let count = counts[hash], count > 0 else { return false }
            counts[hash] = count - 1
            return true
        }

        private static func hash(_ entity: EntityReference, _ entry: HistoryEntry?) -> Hash256 {
            let ids = EntityReference(kind: entity.kind, parts: Array(entity.parts.dropFirst())).description
            guard let entry else { return Hasher256.hash(Array("\(ids)\n".utf8)) }
            let isEnd = ["deleted", "removed", "ended"].contains(entry.change)
            let saying =
                isEnd ? "end \(entry.fields["cause"]?.text ?? "")" : JSONValue.object(entry.fields).canonicalText
            return Hasher256.hash(Array("\(ids)\n\(saying)".utf8))
        }
    }
}
