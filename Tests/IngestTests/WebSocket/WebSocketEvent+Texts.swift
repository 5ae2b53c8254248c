#if Recorders
@testable import Ingest

extension WebSocketEvent {
    /// How many whole messages came in.
    var messageCount: Int {
        guard case .messages(let messages, _) = self else { return 0 }
        return messages.count
    }

    /// The whole messages that came in, as text.
    var texts: [String] {
        guard case .messages(let messages, _) = self else { return [] }
        var texts: [String] = []
        messages.forEach {
            texts.append(String(decoding: $0, as: UTF8.self))
            return true
        }
        return texts
    }
}
#endif
