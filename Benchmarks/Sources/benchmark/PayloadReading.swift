import EventLog
import Foundation
import JSON

/// The JSON texts of a log's payloads, read and dropped: what a replay would take that only reads. An errand.
enum PayloadReading {
    /// Reads all texts by Foundation's `JSONSerialization`, or by the reader that the decoders use.
    static func answer(_ arguments: [String]) throws {
        guard arguments.count == 2 else { return }
        let read = arguments[1] == "foundation" ? readWithFoundation : readStrictly
        var count = 0
        try EventStore.open(at: arguments[0]).read { session in
            try session.forEachEvent(in: SequenceNumber(1)...session.head) { event in
                try event.withPayload { payload in
                    for text in texts(of: payload, event.kind) {
                        try read(text)
                        count += 1
                    }
                }
                return true
            }
        }
        print(count)
    }

    private static func readWithFoundation(_ text: UnsafeRawBufferPointer) throws {
        guard let start = text.baseAddress else { return }
        let data = Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: text.count, deallocator: .none)
        _ = try JSONSerialization.jsonObject(with: data)
    }

    private static func readStrictly(_ text: UnsafeRawBufferPointer) throws {
        var reader = JSONReader(text)
        try reader.skip()
        try reader.finish()
    }

    /// The payload itself; of an event of a stream, what its data lines hold.
    private static func texts(of payload: UnsafeRawBufferPointer, _ kind: EventKind) -> [UnsafeRawBufferPointer] {
        guard kind.rawValue.hasPrefix("sse.event") else { return payload.isEmpty ? [] : [payload] }
        return payload.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard line.starts(with: "data: ".utf8) else { return nil }
            return UnsafeRawBufferPointer(rebasing: line.dropFirst(6))
        }
    }
}
