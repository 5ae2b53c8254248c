import EventLog

/// The entries that a scan has found and not stored yet, in blocks for each channel and, per source, for all channels.
/// In memory only; `ChannelIndex.store` writes the blocks.
struct ChannelPostings {
    /// Whose entries a block holds.
    struct Owner: Hashable {
        let source: Int
        /// `nil` for events that concern all channels of the source.
        let channel: EntityID?
    }

    /// A block is closed once it has this many bytes; its last entry may exceed them. A query reads whole blocks, and
    /// each block begins anew with its differences.
    private static let blockBytesMax = 1 << 18

    /// The owners and, at the same places, their open blocks; `places` finds an owner's place.
    private var owners: [Owner] = []
    private var open: [PostingWriter] = []
    /// Finds an owner's place, with the process's key (I26).
    private var places = PlaceTable()
    /// Closed blocks, in the order in which they were closed.
    private var closed: [(owner: Owner, first: UInt64, bytes: [UInt8])] = []
    /// The bytes of all entries in open and closed blocks. The scan stores them once they are many.
    private(set) var byteCount = 0

    init() {}

    /// Adds a plain frame to its channel's posting list. Events must come in sequence order.
    @inline(__always)
    mutating func add(_ frame: PlainFrame, _ event: EventReference, source: Int) {
        let place = place(of: Owner(source: source, channel: frame.channel))
        let before = open[place].bytes.count
        open[place].add(frame, event)
        grew(place, from: before)
    }

    /// Adds an event by its sequence to the posting list of a channel, or of all channels.
    mutating func add(_ form: PostingWriter.Form, at sequence: SequenceNumber, of channel: EntityID?, source: Int) {
        let place = place(of: Owner(source: source, channel: channel))
        let before = open[place].bytes.count
        open[place].add(form, at: sequence)
        grew(place, from: before)
    }

    /// The blocks of one owner, oldest first; the last one may be empty. O(closed blocks).
    func blocks(of owner: Owner) -> [[UInt8]] {
        let open = find(owner).map { [self.open[$0].bytes] } ?? []
        return closed.filter { $0.owner == owner }.map(\.bytes) + open
    }

    /// All blocks with entries, each with the sequence of its first entry; those of one owner come oldest first.
    var blocks: [(owner: Owner, first: UInt64, bytes: [UInt8])] {
        closed + zip(owners, open).compactMap { $1.bytes.isEmpty ? nil : ($0, $1.first, $1.bytes) }
    }

    /// Counts a new entry and closes its block if that is full.
    @inline(__always)
    private mutating func grew(_ place: Int, from before: Int) {
        let count = open[place].bytes.count
        assert(count > before, "every entry has bytes")
        byteCount += count - before
        guard count >= Self.blockBytesMax else { return }
        closed.append((owners[place], open[place].first, open[place].bytes))
        open[place] = PostingWriter()
    }

    /// See `PlaceTable.stepCount`.
    var stepCount: Int { places.stepCount { hash(owners[$0]) } }

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
        let place = owners.count
        if places.isFull(for: place) {
            let known = self
            places.grow(for: place) { known.hash(known.owners[$0]) }
        }
        places.add(hash(owner), place: place)
        owners.append(owner)
        open.append(PostingWriter())
        return place
    }
}
