import EventLog

/// The history entries of one thing that one of two logs never received. The remote's ids identify the thing.
package struct IdentityDifference: Sendable {
    /// One of the two logs.
    package enum Side: Sendable {
        case first, second
    }

    /// The thing, as named by the log that has the entries.
    package let entity: EntityReference
    /// The log that lacks the entries.
    package let lacking: Side
    /// True if that log does not know the thing at all.
    package let isUnknown: Bool
    /// The missing entries, oldest first.
    package let entries: [HistoryEntry]
}

/// Compares what two logs know of one remote. Names of sources, sequences and the order of arrival do not matter.
///
/// Two versions of a thing are the same if their fields are equal; two ends are the same if their causes are. Not a
/// comparison of states: `StateDiff` compares those.
package enum IdentityDiff {
    /// The compared kinds. Left out are issues, and kinds whose recording depends on when a recorder was connected.
    private static let lasting = EntityReference.Kind.allCases.filter {
        ![.typing, .presence, .voice, .read, .issue].contains($0)
    }

    /// The entries that each side lacks: first those that the second lacks, then those that the first lacks; each by
    /// kind, source and id of the side that has them.
    ///
    /// Cost: reads all histories of both states twice, and keeps a hash of each entry of one side.
    package static func differences(_ first: LogState, _ second: LogState) -> [IdentityDifference] {
        lacking(.second, having: first, other: Known(second)) + lacking(.first, having: second, other: Known(first))
    }

    /// The entries that one side (`other`) lacks and `state` has. Entries that occur several times are counted: the
    /// other side must have as many.
    private static func lacking(
        _ side: IdentityDifference.Side,
        having state: LogState,
        other: Known
    ) -> [IdentityDifference] {
        var other = other
        var differences: [IdentityDifference] = []
        forEachHistory(in: state) { entity, entries in
            let isUnknown = !other.knows(entity)
            let missing = entries.filter { $0.bringsVersion && !other.take(entity, $0) }
            guard !missing.isEmpty else { return }
            differences.append(
                IdentityDifference(entity: entity, lacking: side, isUnknown: isUnknown, entries: missing)
            )
        }
        return differences
    }

    fileprivate static func forEachHistory(
        in state: LogState,
        _ body: (EntityReference, [HistoryEntry]) -> Void
    ) {
        for kind in lasting {
            state.forEachHistory(of: kind, body)
        }
    }

    /// The things and versions that one log knows, as hashes with counts: 40 bytes for each thing and each version. A
    /// thing's own hash has no entry.
    private struct Known {
        private var counts: [Hash256: Int] = [:]

        init(_ state: LogState) {
            IdentityDiff.forEachHistory(in: state) { entity, entries in
                counts[Self.hash(entity, nil)] = 1
                for entry in entries { counts[Self.hash(entity, entry), default: 0] += 1 }
            }
        }

        func knows(_ entity: EntityReference) -> Bool { counts[Self.hash(entity, nil)] != nil }

        /// Whether the version is known; each call uses up one occurrence.
        mutating func take(_ entity: EntityReference, _ entry: HistoryEntry) -> Bool {
            let hash = Self.hash(entity, entry)
            guard let count = counts[hash], count > 0 else { return false }
            counts[hash] = count - 1
            return true
        }

        /// Hashes ids and content: the source's name is left out, as two recorders name one remote differently. An end
        /// has only its cause, because its other fields are what one log happened to know last.
        private static func hash(_ entity: EntityReference, _ entry: HistoryEntry?) -> Hash256 {
            let ids = EntityReference(kind: entity.kind, parts: Array(entity.parts.dropFirst())).description
            guard let entry else { return Hasher256.hash(Array("\(ids)\n".utf8)) }
            // Also of one that came late.
            let isEnd = ["deleted", "removed", "ended"].contains(entry.change)
            let saying =
                isEnd ? "end \(entry.fields["cause"]?.text ?? "")" : JSONValue.object(entry.fields).canonicalText
            return Hasher256.hash(Array("\(ids)\n\(saying)".utf8))
        }
    }
}
