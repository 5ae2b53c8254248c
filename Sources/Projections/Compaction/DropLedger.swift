internal import EventLog

/// By which decoder the dropped events of a source were read. Stored beside the facts. No state depends on it: a damaged or
/// missing ledger lets another decoder file be set without a word.
///
/// Earlier programs noted here, too, which compaction dropped which message; the facts say that now.
struct DropLedger {
    /// The name of the value that a rewrite stores.
    static let factName = "drops/1"
    private static let format = "eventlog.drops/1"

    /// What read the events of a source that the last compaction dropped; only of sources that a decoder file may read.
    private(set) var readers: [SourceName: DecoderIdentity] = [:]

    /// Reads what `bytes` gave; anything else makes an empty ledger.
    init(_ bytes: [UInt8]?) {
        guard let bytes, let document = try? JSONValue.parse(bytes), document["format"]?.string == Self.format else {
            return
        }
        for value in document["sources"]?.array ?? [] {
            guard let name = value["source"]?.string.flatMap({ try? SourceName($0) }) else { continue }
            readers[name] = value["readBy"].map(DecoderIdentity.init)
        }
    }

    /// Notes what read the dropped events of some sources.
    mutating func note(_ readers: [SourceName: DecoderIdentity]) {
        self.readers.merge(readers) { _, latest in latest }
    }

    /// The ledger as canonical JSON.
    var bytes: [UInt8] {
        let sources = readers.keys.sorted().map { name in
            JSONValue.object(["source": .string(name.rawValue), "readBy": readers[name]?.json])
        }
        return JSONValue.object(["format": .string(Self.format), "sources": .array(sources)]).canonicalBytes
    }
}
