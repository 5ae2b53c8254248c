/// The names and places that a user declares as secret, beside those of docs/events.md.
///
/// A name means every member, parameter and header called so, in any case and with or without `_`, `-`, `.` and spaces,
/// with all values within. A JSON Pointer (RFC 6901) means one value of each payload that is JSON.
public struct RedactionRules: Hashable, Sendable {
    /// In the form of `SecretName.normalized`.
    let names: Set<String>
    /// The reference tokens of each pointer, unescaped; none for the whole document.
    let pointers: [[String]]

    /// No rules.
    public static let none = RedactionRules(names: [], pointers: [])

    /// True if nothing is declared.
    public var isEmpty: Bool { names.isEmpty && pointers.isEmpty }

    private init(names: Set<String>, pointers: [[String]]) {
        self.names = names
        self.pointers = pointers
    }

    /// Reads rules: a text that begins with a slash is a pointer, any other a name.
    ///
    /// - Throws: `IngestError` with code `invalidArgument` for a name without a letter, and for a tilde that is followed
    ///   by neither 0 nor 1.
    public init(_ texts: [String]) throws {
        var names: Set<String> = []
        var pointers: [[String]] = []
        for text in texts {
            if text.utf8.first == 0x2F {
                guard let pointer = Self.tokens(of: text) else {
                    throw Self.error(text, "it is no JSON Pointer: a tilde is written as ~0, a slash as ~1")
                }
                pointers.append(pointer)
            } else {
                let name = SecretName.normalized(text.utf8)
                guard !name.isEmpty else { throw Self.error(text, "it is neither a name nor a JSON Pointer") }
                names.insert(name)
            }
        }
        self.init(names: names, pointers: pointers)
    }

    /// The reference tokens of a pointer; `nil` if an escape is wrong (RFC 6901, section 3).
    private static func tokens(of text: String) -> [String]? {
        var tokens: [String] = []
        for part in text.utf8.dropFirst().split(separator: 0x2F, omittingEmptySubsequences: false) {
            var token: [UInt8] = []
            var rest = part
            while let byte = rest.popFirst() {
                guard byte == 0x7E else {
                    token.append(byte)
                    continue
                }
                guard let digit = rest.popFirst(), digit == 0x30 || digit == 0x31 else { return nil }
                token.append(digit == 0x30 ? 0x7E : 0x2F)
            }
            tokens.append(String(decoding: token, as: UTF8.self))
        }
        return tokens
    }

    private static func error(_ text: String, _ reason: String) -> IngestError {
        IngestError(
            .invalidArgument,
            operation: "redact",
            object: text,
            reason: reason,
            advice: "give a member's name, or a pointer such as /d/user/email"
        )
    }
}

/// The rules of one search: those of docs/events.md, a user's, or both.
struct SecretRules {
    let own: RedactionRules
    /// True if the names and forms of docs/events.md are searched for.
    let hasCommon: Bool
    /// True if the value of a member called `token` is a secret, wherever it stands: in what a client of any app says.
    var tokenIsSecret = false

    /// Those of docs/events.md.
    static let common = SecretRules(own: .none, hasCommon: true)

    /// True if the user declared the name, in the form of `SecretName.normalized`.
    func owns(_ normal: String) -> Bool { !own.names.isEmpty && own.names.contains(normal) }

    /// Judges the name of a parameter in a URL's query.
    func judge(parameter name: [UInt8]) -> SecretName {
        if owns(SecretName.normalized(name)) { return .secret }
        return hasCommon ? SecretName(parameter: name) : .plain
    }

    /// Judges a name in the form of `SecretName.normalized`.
    func judge(normal: String, tokenIsSecret: Bool = false) -> SecretName {
        if owns(normal) { return .secret }
        return hasCommon ? SecretName(normal: normal, tokenIsSecret: tokenIsSecret || self.tokenIsSecret) : .plain
    }
}
