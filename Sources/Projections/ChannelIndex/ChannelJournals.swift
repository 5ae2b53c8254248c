import EventLog

/// What a scan has found and not stored yet: the entries of each channel, and those of all channels, by source.
struct ChannelJournals {
    /// Whose entries a block holds.
    struct Owner: Hashable {
        let source: Int
        /// `nil`: all channels of the source.
        let channel: EntityID?
    }

    /// A closed block is at most so long, but for one entry.
    private static let blockBytesMax = 1 << 18

    private var owners: [Owner] = []
    private var open: [JournalWriter] = []
    private var places = PlaceTable()
    /// Blocks that have reached their length, in the order in which they did.
    private var closed: [(owner: Owner, first: UInt64, bytes: [UInt8])] = []
    /// How many bytes wait to be stored.
    private(set) var byteCount = 0

    init() {}

    @inline(__always)
    mutating func add(_ frame: PlainFrame, _ event: EventReference, source: Int) {
        let place = place(of: Owner(source: source, channel: frame.channel))
        let before = open[place].bytes.count
        open[place].add(frame, event)
        grew(place, from: before)
    }

    mutating func add(_ form: JournalWriter.Form, at sequence: SequenceNumber, of channel: EntityID?, source: Int) {
        let place = place(of: Owner(source: source, channel: channel))
        let before = open[place].bytes.count
        open[place].add(form, at: sequence)
        grew(place, from: before)
    }

    /// The blocks of one owner, oldest first.
    func blocks(of owner: Owner) -> [[UInt8]] {
        let open = find(owner).map { [self.open[$0].bytes] } ?? []
        return closed.filter { $0.owner == owner }.map(\.bytes) + open
    }

    /// All blocks, each with the sequence of its first entry.
    var blocks: [(owner: Owner, first: UInt64, bytes: [UInt8])] {
        closed + zip(owners, open).compactMap { $1.bytes.isEmpty ? nil : ($0, $1.first, $1.bytes) }
    }

    @inline(__always)
    private mutating func grew(_ place: Int, from before: Int) {
        let count = open[place].bytes.count
        byteCount += count - before
        guard count >= Self.blockBytesMax else { return }
        closed.append((owners[place], open[place].first, open[place].bytes))
        open[place] = JournalWriter()
    }

    /// See `PlaceTable.stepCount`.
    var stepCount: Int { places.stepCount }

    private func hash(_ owner: Owner) -> UInt64 {
        places.hash((owner.channel ?? .none).rawValue, UInt64(owner.source))
    }

    @inline(__always)
    private func find(_ owner: Owner) -> Int? {
        places.find(hash(owner)) { owners[$0] == owner }
    }

    @inline(__always)
    private mutating func place(of owner: Owner) -> Int {
        if let place = find(owner) { return place }
        owners.append(owner)
        open.append(JournalWriter())
        places.add(hash(owner), place: owners.count - 1)
        return owners.count - 1
    }
}
