package import EventLog

/// What another program makes of one source's events, where it departs from what the remote meant (I16), and what it
/// remembers of them beside the state. The canonical reading has none and asks none.
///
/// Its memory is saved with the state, and is no part of facts or normal forms: compactions are canonical.
package protocol Client: Codable, Sendable {
    init()

    /// How a client with these rules reads message files.
    static func files(_ rules: ReadingRules) -> any MessageFileReader

    /// Whether the client receives an event. Called once for each event whose family has rules, in log order.
    mutating func reads(_ envelope: Envelope, _ rules: ReadingRules) -> Bool

    /// As `reads`, of a gateway's frame about a message, which a client receives; only its connection is given.
    mutating func noteFrame(on connection: String?)
}

/// How a program reads the message files of a branch. The canonical reader is `CanonicalFiles`; clients bring their own (I16).
package protocol MessageFileReader: Sendable {
    /// Splits a file; `nil` if it has no front matter.
    func file(_ text: String) -> MessageFile?

    /// The members of the front matter.
    ///
    /// - Throws: `MessageFile.Fault` if it is malformed.
    func members(of file: MessageFile) throws(MessageFile.Fault) -> JSONObject

    /// The instant of a date; `nil` if the value is none.
    func instant(_ value: JSONValue) -> Timestamp?

    /// The elements of a list; `nil` if the value is none.
    func list(_ value: JSONValue) -> [JSONValue]?

    /// The id of the message that `reply_to` names; `nil` if the name counts as none.
    func parent(named name: String) -> String?

    /// The id of the message in a file with this name, which ends in `.md`.
    func id(ofFile name: Substring) -> String

    /// Whether a member that is no field of a message is kept as an extra.
    func keeps(_ name: String) -> Bool
}

/// A message file, split into its front matter and the body below.
package struct MessageFile {
    /// The lines between the delimiters, as written.
    package let frontMatter: String
    /// The body below, trimmed: canonically of space, tab, CR and LF.
    package let content: String
    /// The language named after the first `---`; empty unless the reader knows languages.
    package let language: String

    package init(frontMatter: String, content: String, language: String = "") {
        (self.frontMatter, self.content, self.language) = (frontMatter, content, language)
    }

    /// Why a file is no message; contains none of its text.
    package struct Fault: Error, Hashable {
        let reason: String

        package init(reason: String) { self.reason = reason }
    }
}
