#if Recorders
import EventLog
import NIOCore
import NIOHTTP1

/// The recording of one event stream while its bytes pass. Used on the event loop of its connection.
final class ProxyEventStream {
    let messages: ProxyMessages
    private var splitter: EventStreamSplitter
    private let inflater: Inflater?
    private let journal: ProxyJournal
    private var isLost = false

    /// - Parameter holdsEvents: whether faults work on whole events; then larger ones are held.
    init(_ messages: ProxyMessages, journal: ProxyJournal, headers: HTTPHeaders, holdsEvents: Bool) {
        (self.messages, self.journal) = (messages, journal)
        splitter = holdsEvents ? EventStreamSplitter(limit: 64 << 20) : EventStreamSplitter()
        switch headers.first(name: "content-encoding")?.lowercased() {
        case "gzip": inflater = Inflater(.gzip)
        case "deflate": inflater = Inflater(.zlib)
        case nil, "identity": inflater = nil
        default: (inflater, isLost) = (nil, true)
        }
    }

    /// Whether the bytes of an event are those that pass.
    var isPlain: Bool { inflater == nil && !isLost }

    /// Records bytes that passed.
    func passed(_ buffer: ByteBuffer) {
        let events = events(buffer)
        guard !events.isEmpty else { return }
        messages.record(.in) { made in
            for event in events {
                switch event.content {
                case .whole(let bytes): bytes.withUnsafeBytes { made.add(.bytes($0)) }
                case .oversize(let length, let hash): made.add(.oversize(length: length, hash: hash))
                }
            }
        }
    }

    /// Cuts bytes into events.
    func cut(_ buffer: ByteBuffer) -> [ProxyMessages.Message] {
        events(buffer).compactMap { event in
            guard case .whole(let bytes) = event.content else { return nil }
            let raw = ByteBuffer(bytes: bytes)
            guard !Self.isComment(bytes) else { return ProxyMessages.Message(raw: raw, content: nil) }
            var content = KeptContent()
            bytes.withUnsafeBytes { content.append($0) }
            return ProxyMessages.Message(raw: raw, content: content.result)
        }
    }

    private func events(_ buffer: ByteBuffer) -> [EventStreamSplitter.Event] {
        guard !isLost else { return [] }
        let time = journal.now
        return buffer.withUnsafeReadableBytes { bytes in
            guard let inflater else { return splitter.push(bytes.bindMemory(to: UInt8.self), at: time) }
            var events: [EventStreamSplitter.Event] = []
            do {
                try inflater.push(bytes) { piece in
                    events += splitter.push(piece.bindMemory(to: UInt8.self), at: time)
                    return true
                }
            } catch {
                isLost = true
            }
            return events
        }
    }

    private static func isComment(_ bytes: [UInt8]) -> Bool {
        bytes.split { $0 == 0x0A || $0 == 0x0D }.allSatisfy { $0.first == 0x3A }
    }
}
#endif
