/// The result of the first reading of a HAR: the entries that a recorder could have made, and the kinds that they show.
///
/// The file stays in memory, and entries hold ranges of it, so this needs little memory beside the file.
struct HARContents {
    /// An entry that may be taken.
    struct Candidate {
        let entry: HAREntry
        let address: HARAddress
        /// The entry's kind; `nil` for a WebSocket that shows none, and for an answer that only kind `raw` takes.
        fileprivate(set) var kind: HARKind?
        /// True if the entry by itself shows its kind.
        let isTelling: Bool

        var isSocket: Bool {
            if case .socket = entry.content { true } else { false }
        }
    }

    /// In the file's order; empty once `take` has been called.
    private(set) var candidates: [Candidate] = []
    /// The names of attached files that may hold events and are not read yet.
    private(set) var attachments: Set<String> = []
    /// Entries of other sites.
    private(set) var others = HAROthers()
    /// Entries that cannot be read, passed over because of `keepGoing`.
    private(set) var faults = HARFaults()

    /// The number of frames that are examined; more would not change the answer for an honest connection.
    private static let frameCountMax = 256
    private let site: HARSite?

    /// Reads all entries; those of other hosts than the site's are only counted.
    ///
    /// - Throws: `HARFault` if there is no list of entries; the fault of an entry, unless `keepGoing`.
    init(_ reader: HARReader, site: HARSite?, keepGoing: Bool) throws(HARFault) {
        self.site = site
        var entries = reader.elements(from: try reader.entriesStart())
        var number = 0
        while true {
            number += 1
            do throws(HARFault) {
                guard let range = try entries.next() else { return }
                // An entry that is JSON but no entry of a HAR: the next one can still be read.
                do throws(HARFault) {
                    take(try HAREntry(range, number: number, reader), reader)
                } catch {
                    try faults.add(error.at(entry: number), keepGoing: keepGoing)
                }
            } catch {
                // The end of this entry is unknown, because the file is cut off or is not JSON from here on.
                try faults.add(error.place.isEmpty ? error.at(entry: number) : error, keepGoing: keepGoing)
                return
            }
        }
    }

    /// Sorts one entry: to the candidates, or to those of other sites and routes.
    private mutating func take(_ entry: HAREntry, _ reader: HARReader) {
        guard let address = entry.address else { return others.add(nil) }
        guard site?.has(address.host) ?? true else { return others.add(address.host) }
        switch entry.content {
        case .socket(let messages):
            let kind = messages.flatMap { Self.kind(ofMessages: $0, reader) } ?? Self.kind(ofSocket: address)
            add(Candidate(entry: entry, address: address, kind: kind, isTelling: kind != nil), reader)
        case .stream:
            add(Candidate(entry: entry, address: address, kind: .sse, isTelling: true), reader)
        case .answer:
            let route = HARRoute(method: entry.method, path: address.route)
            // An answer without type and body, as to `OPTIONS`, tells nothing of an app that nobody knows.
            guard isJSON(entry, reader), route != nil || entry.hasBody || entry.mediaType.isJSON else {
                return others.add(address.host)
            }
            let isTelling = route?.isTelling ?? false
            add(Candidate(entry: entry, address: address, kind: route?.kind, isTelling: isTelling), reader)
        }
    }

    private mutating func add(_ candidate: Candidate, _ reader: HARReader) {
        candidates.append(candidate)
        if let name = candidate.entry.attachment, reader.attachments[name] == nil { attachments.insert(name) }
    }

    /// True if an answer may be JSON: pages of a site often have the same paths as its API. Answers without a body are
    /// judged later.
    private func isJSON(_ entry: HAREntry, _ reader: HARReader) -> Bool {
        guard entry.mayBeJSON, !entry.mediaType.isJSON, entry.hasBody else { return entry.mayBeJSON }
        // The first byte that is no white space: `{` or `[`.
        return (try? entry.body(reader).first { $0 > 0x20 }).map { $0 == 0x7B || $0 == 0x5B } ?? true
    }

    /// The kind of the first frame that shows one; `nil` if none does.
    private static func kind(ofMessages range: Range<Int>, _ reader: HARReader) -> HARKind? {
        var messages = reader.elements(of: range)
        for _ in 0..<frameCountMax {
            guard let message = try? messages.next() else { return nil }
            // Pings and messages that cannot be read show nothing.
            guard let bytes = HARMessage.bytes(message, reader) else { continue }
            if let kind = HARKind(bytes.withUnsafeBufferPointer(CaptureKindGuess.kind(ofFrame:))) { return kind }
        }
        return nil
    }

    /// The kind that a WebSocket's address shows, for one whose frames show none.
    private static func kind(ofSocket address: HARAddress) -> HARKind? {
        let parts = address.route.split(separator: "/")
        if parts.suffix(3).elementsEqual(["realtime", "v1", "websocket"]) { return .realtime }
        return parts.last == "gateway" ? .gateway : nil
    }
}

extension HARContents {
    /// The kinds that the entries show by themselves, each once.
    var kinds: [HARKind] {
        let kinds = Set(candidates.lazy.filter(\.isTelling).compactMap(\.kind))
        return HARKind.allCases.filter(kinds.contains)
    }

    /// The one kind that the entries show; `raw` if they show none of a known app.
    ///
    /// - Throws: `IngestError` with code `unknownKind` if they show several, or if there are none.
    func kind(of name: String) throws -> HARKind {
        let kinds = self.kinds
        if kinds == [.sse], hasMoreThanStreams { return .raw }
        if kinds.count == 1 { return kinds[0] }
        if kinds.isEmpty, !candidates.isEmpty { return .raw }
        let fitting = kinds.map(\.rawValue).joined(separator: ", ")
        throw HARDocument.error(
            .unknownKind,
            name,
            kinds.isEmpty
                ? "its entries do not show which kind of traffic it is" : "its entries fit several kinds: \(fitting)",
            advice: "say which with --kind \(HARKind.allCases.map(\.rawValue).joined(separator: "|"))"
                + (kinds.isEmpty ? "" : ", and take another one by a second run with another --as")
        )
    }

    /// True if a host of event streams gave other things, too, that no known app gives: the streams alone would be a
    /// part of what the app saw.
    private var hasMoreThanStreams: Bool {
        let hosts = Set(candidates.lazy.filter { $0.kind == .sse }.map(\.address.host))
        return candidates.contains { $0.kind == nil && hosts.contains($0.address.host) }
    }

    /// The site of which kind `raw` takes the entries: the one that was given, else the host with most messages, streams
    /// and answers, the first of several; `nil` if there are no entries.
    func rawSite(_ reader: HARReader) -> HARSite? {
        if let site { return site }
        var counts: [String: Int] = [:]
        for candidate in candidates { counts[candidate.address.host, default: 0] += candidate.count(reader) }
        let most = counts.values.max()
        return candidates.first { counts[$0.address.host] == most }.map { HARSite($0.address.host) }
    }

    /// Takes everything of a site as it came, and counts the rest as that of other sites.
    mutating func takeRaw(_ site: HARSite?) -> [Candidate] {
        var taken: [Candidate] = []
        for var candidate in candidates {
            guard site?.has(candidate.address.host) == true else {
                others.add(candidate.address.host)
                continue
            }
            candidate.kind = .raw
            taken.append(candidate)
        }
        candidates = []
        return taken
    }

    /// Takes the entries of a kind, and counts the others as those of other sites.
    ///
    /// WebSockets that show no kind are taken if the user gave the kind (`isGiven`) and no other WebSocket shows it. If
    /// a WebSocket's host also gave answers, entries of other hosts count as another site's.
    mutating func take(_ kind: HARKind, isGiven: Bool) -> [Candidate] {
        let hasOwnSocket = candidates.contains { $0.isSocket && $0.kind == kind }
        let takesSilent = isGiven && !hasOwnSocket && kind.frameKind != nil
        let all = candidates
        var taken = all.filter { $0.kind == kind || (takesSilent && $0.isSocket && $0.kind == nil) }
        let hosts = Set(taken.lazy.filter(\.isSocket).map(\.address.host))
        if taken.contains(where: { !$0.isSocket && hosts.contains($0.address.host) }) {
            taken.removeAll { !hosts.contains($0.address.host) }
        }
        let numbers = Set(taken.map(\.entry.number))
        for candidate in all where !numbers.contains(candidate.entry.number) { others.add(candidate.address.host) }
        candidates = []
        return taken
    }
}

extension HARContents.Candidate {
    /// How many messages a WebSocket has; 1 for anything else. Cost: a pass over the messages.
    fileprivate func count(_ reader: HARReader) -> Int {
        guard case .socket(let messages?) = entry.content else { return 1 }
        var (elements, count) = (reader.elements(of: messages), 1)
        while (try? elements.next()) != nil { count += 1 }
        return count
    }
}

/// Counts the entries of other sites.
struct HAROthers {
    /// The number of entries.
    private(set) var count = 0
    /// The first few hosts, in the order in which they came; each once.
    private var hosts: [String] = []
    private var hasMore = false

    /// The most hosts that are named.
    private static let hostCountMax = 8

    /// - Parameter host: `nil` if the URL names no server.
    mutating func add(_ host: String?) {
        count += 1
        guard let host, !hosts.contains(host) else { return }
        if hosts.count < Self.hostCountMax { hosts.append(host) } else { hasMore = true }
    }

    /// The notice for people; `nil` if there was no such entry.
    func issue(_ name: String) -> IngestIssue? {
        guard count > 0 else { return nil }
        // A host is remote text, so it is cut.
        let names = hosts.map { String($0.prefix(100)) } + (hasMore ? ["…"] : [])
        let of = names.isEmpty ? "" : " (\(names.joined(separator: ", ")))"
        let reason = "\(count) \(count == 1 ? "entry is" : "entries are") of other sites or routes\(of)"
        return IngestIssue(place: name, reason: reason, count: count)
    }
}

/// The entries and messages that cannot be read or used: the first few with their places, the rest counted.
struct HARFaults {
    private var listed: [HARFault] = []
    /// The number of faults that are not listed.
    private var more = 0

    /// - Throws: the fault, unless `keepGoing`.
    mutating func add(_ fault: HARFault, keepGoing: Bool) throws(HARFault) {
        guard keepGoing else { throw fault }
        add(fault)
    }

    mutating func add(_ fault: HARFault) {
        if listed.count < IngestSummary.issueCountMax { listed.append(fault) } else { more += 1 }
    }

    /// In the order in which they were found.
    func issues(_ name: String) -> [IngestIssue] {
        let issues = listed.map { IngestIssue(place: "\(name): \($0.place)", reason: $0.reason) }
        return more == 0 ? issues : issues + [IngestIssue(place: name, reason: "\(more) more", count: more)]
    }
}
