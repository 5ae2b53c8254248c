public import EventLog

extension LogState {
    /// The full names of the things that a reference can mean, each once, in the order of sources and rows. More than
    /// one if the reference omits parts.
    ///
    /// Includes things without a row that have a history, and if nothing else fits, messages by the names that they had
    /// before they moved. Cost: O(things of the kind).
    public func find(_ reference: EntityReference) -> [EntityReference] {
        places(of: reference).map(\.reference)
    }

    /// The history of one thing, oldest first. The reference must be its full name. O(things of the kind), as ids are
    /// looked up by their texts.
    ///
    /// - Throws: `ProjectionError.notFound` if the state has no history of it.
    public func history(of reference: EntityReference) throws -> [HistoryEntry] {
        for place in places(of: reference) where place.reference == reference {
            let source = sources[place.source]
            let rowContext = source.rowContext(asOf: clock)
            if let entries = source.fold(for: place.key.section)?.history(of: place.key, context: rowContext) {
                return entries
            }
        }
        throw ProjectionError(.notFound, "history of \(reference): nothing is known of it")
    }

    /// Lends the history of each thing that has one, kind by kind, in the order of sources and rows.
    ///
    /// - Parameters:
    ///   - reference: limits this to the things that it can mean; all things for `nil`.
    ///   - filter: may leave out things whose histories it rules out.
    public func forEachHistory(
        of reference: EntityReference? = nil,
        filter: HistoryFilter = HistoryFilter(),
        _ body: (EntityReference, [HistoryEntry]) throws -> Void
    ) rethrows {
        guard let reference else {
            return try EntityReference.Kind.allCases.forEach { try forEachHistory(of: $0, filter: filter, body) }
        }
        try forEachHistory(of: reference.kind, filter: filter) { thing, entries in
            if reference.fits(thing.parts) { try body(thing, entries) }
        }
    }

    /// Lends the history of each thing of one kind, in the order of sources and rows.
    func forEachHistory(
        of kind: EntityReference.Kind,
        filter: HistoryFilter = HistoryFilter(),
        _ body: (EntityReference, [HistoryEntry]) throws -> Void
    ) rethrows {
        try forEachCandidate(of: kind, filter) { source, candidate in
            let state = sources[source]
            let fold = state.fold(for: candidate.key.section)
            guard let entries = fold?.history(of: candidate.key, context: state.rowContext(asOf: clock)) else { return }
            try body(EntityReference(kind: kind, parts: state.parts(of: candidate.key)), entries)
        }
    }

    /// The full name of the thing that a row key names; `source` is the index of its source. `nil` for
    /// `sessionAggregates`.
    func reference(to key: EntityKey, source: Int) -> EntityReference? {
        guard let kind = EntityReference.Kind(section: key.section) else { return nil }
        let state = sources[source]
        return EntityReference(kind: kind, parts: state.parts(of: key))
    }

    /// The things that the last event may have changed, each once, in order of first touch. `envelope` must be that of
    /// the last event; an act has none, as its source has no state.
    public func touched(by envelope: Envelope) -> [EntityReference] {
        guard let index = indexes[envelope.source] else { return [] }
        var seen: Set<EntityReference> = []
        return sources[index].context.touched.compactMap { reference(to: $0, source: index) }
            .filter { seen.insert($0).inserted }
    }

    /// A thing, with the index of its source and its key there.
    struct Place {
        let source: Int
        let key: EntityKey
        let reference: EntityReference
    }

    private func places(of reference: EntityReference) -> [Place] {
        var seen: Set<EntityReference> = []
        var found: [Place] = []
        forEachPlace(of: reference.kind) { place in
            guard reference.fits(place.reference.parts), seen.insert(place.reference).inserted else { return }
            found.append(place)
        }
        // The history of a message that moved goes on under its new name, which is therefore the one to be found.
        return found.isEmpty && reference.kind == .message ? formerPlaces(of: reference) : found
    }

    /// The messages that a reference can mean by the names that they had before they moved.
    private func formerPlaces(of reference: EntityReference) -> [Place] {
        sources.indices.sorted { sources[$0].name < sources[$1].name }.flatMap { index in
            let source = sources[index]
            return source.parts.messages.formerKeys(source.context.names).compactMap { key -> Place? in
                let name = EntityReference(kind: .message, parts: source.parts(of: key))
                return reference.fits(name.parts) ? Place(source: index, key: key, reference: name) : nil
            }
        }
    }

    /// Lends the things of one kind, present and past, in the order of sources and rows.
    func forEachPlace(of kind: EntityReference.Kind, _ body: (Place) throws -> Void) rethrows {
        try forEachCandidate(of: kind, HistoryFilter()) { source, candidate in
            let full = EntityReference(kind: kind, parts: sources[source].parts(of: candidate.key))
            try body(Place(source: source, key: candidate.key, reference: full))
        }
    }

    /// Lends the things of one kind whose histories a filter does not rule out, present and past, in the order of sources and
    /// rows, each with the index of its source. Of a state of some channels, no others.
    func forEachCandidate(
        of kind: EntityReference.Kind,
        _ filter: HistoryFilter,
        _ body: (_ source: Int, HistoryCandidate) throws -> Void
    ) rethrows {
        var rest = sources.indices.sorted { (sources[$0].name, $0) < (sources[$1].name, $1) }[...]
        while let first = rest.first {
            // Those of one name follow each other section by section, as the rows of one source do.
            let ofOneName = rest.prefix { sources[$0].name == sources[first].name }
            rest = rest.dropFirst(ofOneName.count)
            for section in kind.sections where onlyChannels.isEmpty || section.isOfChannels {
                for index in ofOneName {
                    let context = sources[index].rowContext(asOf: clock)
                    let only = onlyChannels.isEmpty ? nil : onlyChannels[index]
                    let fold = sources[index].fold(for: section)
                    for candidate in fold?.candidates(in: section, context: context, filter) ?? [] {
                        if let only, candidate.key.first != only { continue }
                        try body(index, candidate)
                    }
                }
            }
        }
    }
}

extension SourceState {
    /// The source and the ids of the thing that a row key names.
    func parts(of key: EntityKey) -> [String] {
        let second = key.second == .none ? [] : [context.names.text(key.second)]
        return [name.rawValue, context.names.text(key.first)] + second
    }

    /// The keys of a section's rows, and of things that have a history but no row any more.
    func knownKeys(in section: Section) -> [EntityKey] {
        fold(for: section)?.knownKeys(in: section, names: context.names) ?? []
    }
}
