import Dispatch
import JSON
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The messages of a client, read from standard input on a thread of their own, so that a call that runs can be cancelled.
final class AgentInbox: Sendable {
    /// What a line holds.
    enum Message: Sendable {
        case value(JSONValue)
        /// A line that is no JSON text, or too long.
        case fault(String)
    }

    private struct State {
        var waiting: [Message] = []
        var cancelled: Set<JSONValue> = []
        var hasEnded = false
    }

    /// The longest line, in bytes.
    private static let lineBytesMax = 4 << 20
    /// The most messages that wait; the thread stops reading meanwhile.
    private static let waitingMax = 64

    private let state = Mutex(State())
    /// One signal for each message that waits, and one for the end.
    private let news = DispatchSemaphore(value: 0)
    /// One for each message that may come. Begins at 0, since Dispatch traps if a semaphore is freed below its first value.
    private let room = DispatchSemaphore(value: 0)

    init() {
        for _ in 0..<Self.waitingMax { room.signal() }
    }

    /// The next message; waits for one. `nil` behind the last.
    func next() -> Message? {
        news.wait()
        let message = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
        // The end is found again.
        if message == nil { news.signal() } else { room.signal() }
        return message
    }

    /// Whether nobody waits for the answer to a request any more.
    func isCancelled(_ id: JSONValue) -> Bool {
        state.withLock { $0.hasEnded || $0.cancelled.contains(id) }
    }

    /// Forgets a request that was answered.
    func forget(_ id: JSONValue) {
        state.withLock { _ = $0.cancelled.remove(id) }
    }

    /// Reads standard input to its end. Blocks its thread.
    func read() {
        var line: [UInt8] = []
        var isTooLong = false
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = buffer.withUnsafeMutableBytes { Self.readSome(into: $0) }
            guard count > 0 else { break }
            for byte in buffer[..<count] {
                if byte == UInt8(ascii: "\n") {
                    if isTooLong {
                        add(.fault("a message has more than \(Self.lineBytesMax) bytes"))
                    } else {
                        take(line)
                    }
                    line.removeAll(keepingCapacity: true)
                    isTooLong = false
                } else if line.count < Self.lineBytesMax {
                    line.append(byte)
                } else {
                    isTooLong = true
                }
            }
        }
        state.withLock { $0.hasEnded = true }
        news.signal()
    }

    private static func readSome(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            #if canImport(Glibc)
            let count = Glibc.read(0, buffer.baseAddress, buffer.count)
            #else
            let count = Darwin.read(0, buffer.baseAddress, buffer.count)
            #endif
            if count >= 0 || errno != EINTR { return count }
        }
    }

    private func take(_ line: [UInt8]) {
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { return }
        guard let value = JSONValue(received: line) else { return add(.fault("a line is no JSON text")) }
        if value["method"]?.string == "notifications/cancelled", let id = value["params"]?["requestId"] {
            state.withLock { if $0.cancelled.count < Self.waitingMax { $0.cancelled.insert(id) } }
            return
        }
        add(.value(value))
    }

    private func add(_ message: Message) {
        room.wait()
        state.withLock { $0.waiting.append(message) }
        news.signal()
    }
}
