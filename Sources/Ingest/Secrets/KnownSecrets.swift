#if Recorders
import EventLog
import JSON
import Logging
import Synchronization

/// The tokens that one recorder uses, which a server may send back in any place: they are replaced in everything that is
/// appended (I14), whatever it is called.
///
/// Shared by a recorder's tasks. The latest 32 are known: a token that is exchanged for another is worthless soon.
final class KnownSecrets: Sendable {
    private struct State {
        /// The oldest first.
        var tokens: [String] = []
        var search: TokenSearch?
        /// Whether people were told that one is too short.
        var hasWarned = false
    }

    /// Tells people of a token that is not searched for, once; never which.
    private let log: Logger?
    private let state = Mutex(State())

    /// The shortest token that is searched for, in bytes, and the shortest one that consists of letters. A shorter one
    /// is a word that stands anywhere.
    private static let (bytesMin, lettersMin) = (5, 8)
    private static let tokensMax = 32

    init(log: Logger? = nil) {
        self.log = log
    }

    /// Adds a token. One that is known changes nothing, and one that is too short is warned of.
    func note(_ token: String) {
        let bytes = token.utf8
        let isWord = bytes.allSatisfy { (0x61...0x7A).contains($0 | 0x20) }
        guard bytes.count >= (isWord ? Self.lettersMin : Self.bytesMin) else { return warn(of: bytes.count) }
        state.withLock { state in
            guard state.tokens.last != token else { return }
            let isKnown = state.tokens.contains(token)
            state.tokens.removeAll { $0 == token }
            state.tokens.append(token)
            if state.tokens.count > Self.tokensMax { state.tokens.removeFirst() }
            if !isKnown { state.search = TokenSearch(state.tokens) }
        }
    }

    /// - Parameter count: the token's bytes. None are no token.
    private func warn(of count: Int) {
        guard count > 0, let log else { return }
        let isFirst = state.withLock { state in
            defer { state.hasWarned = true }
            return !state.hasWarned
        }
        guard isFirst else { return }
        log.warning(
            """
            a token of this source is too short to be told from other text (fewer than \(Self.bytesMin) bytes, or than \
            \(Self.lettersMin) letters alone): where the server sends it back, it is recorded; use a longer one
            """
        )
    }

    /// Adds the secrets in a URL's query.
    func note(url: String) {
        let query = url.utf8.drop { $0 != 0x3F }.dropFirst().prefix { $0 != 0x23 }
        for pair in query.split(separator: 0x26) {
            guard let equals = pair.firstIndex(of: 0x3D) else { continue }
            let name = PercentEncoding.decoded(Array(pair[..<equals]))
            guard SecretName(parameter: name) != .plain else { continue }
            let value = PercentEncoding.decoded(Array(pair[pair.index(after: equals)...]))
            note(String(decoding: value, as: UTF8.self))
        }
    }

    /// The search for all of them; `nil` if none is known.
    var search: TokenSearch? { state.withLock { $0.search } }

    /// True if an id, of a session or an event, contains a secret: one of these, or one by its name or form.
    func isSecret(id: [UInt8], kind: EventKind) -> Bool {
        occur(in: id) || Secrets.redact(id, kind: kind).count > 0
    }

    /// True if the bytes contain one of them.
    func occur(in bytes: [UInt8]) -> Bool {
        guard let search else { return false }
        return bytes.withUnsafeBytes { search.occurs(in: $0) }
    }
}
#endif
