import EventLog
import Projections

/// The sources and kinds of a log's events. Reads no events. Names of events that were all dropped may be among them.
///
/// So a name that is known may still select nothing, but a name that is not known never does.
struct KnownNames {
    let kindsBySource: [SourceName: Set<EventKind>]

    init(_ session: borrowing ReadSession) throws {
        kindsBySource = try session.kindsBySource()
    }

    /// The sources, by name.
    var sources: [String] { kindsBySource.keys.map(\.rawValue).sorted() }

    /// The kinds, of one source or of all, by name. Each once.
    func kinds(of source: SourceName? = nil) -> [String] {
        let chosen = kindsBySource.filter { source == nil || $0.key == source }
        return Set(chosen.values.flatMap { $0 }).map(\.rawValue).sorted()
    }

    /// Refuses names that the log does not have, so that a misspelt one does not look like an empty list. A kind may be
    /// given without its version.
    ///
    /// - Throws: `Failure` with exit code 1 that suggests a similar name.
    func check(source: SourceName?, kind: String? = nil) throws {
        if let source, kindsBySource[source] == nil {
            throw Self.failure("source", source.rawValue, sources)
        }
        guard let kind, !kinds(of: source).contains(where: { $0 == kind || $0.hasPrefix(kind + "/") }) else { return }
        throw Self.failure("kind", kind, kinds(of: source))
    }

    /// The error for an unknown name: a similar one, and at most twelve of the known ones.
    ///
    /// - Parameters:
    ///   - words: what the name may have been meant for; the known names, unless they stand with more.
    ///   - ifNone: what is said of a log without any.
    static func failure(
        _ noun: String,
        _ name: String,
        _ known: [String],
        words: [String]? = nil,
        ifNone: String = "it is empty"
    ) -> Failure {
        let near = Suggestion.clause(for: name, among: words ?? known)
        let shown = known.prefix(12).joined(separator: ", ")
        let more = known.count > 12 ? " and \(known.count - 12) more" : ""
        let has = known.isEmpty ? ifNone : "there is \(shown)\(more)"
        return Failure("find \(noun) \"\(name)\": the log has none; \(has)\(near)", exitCode: Outcome.no)
    }
}
