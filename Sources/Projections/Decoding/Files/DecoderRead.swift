package import JSON

/// A value that a decoder file took out of an event, for people who ask what it did.
package struct DecoderRead: Sendable {
    /// The line of the effect, from 1.
    package let line: Int
    /// The effect, such as `make message`.
    package let effect: String
    /// The member or id that it is for.
    package let member: String
    /// Where it came from, as the file says it.
    package let source: String
    /// What was found; `nil` if nothing was.
    package let value: JSONValue?
    /// Where that stands in the payload, in bytes, of a text without its quotes; `nil` for what is no value of the payload, as it
    /// stands there.
    package let place: Range<Int>?
}

extension DecoderPlace: CustomStringConvertible {
    /// The place as a file writes it.
    var description: String {
        let begin =
            switch start {
            case .here: ""
            case .outside(let count): String(repeating: "^", count: count)
            case .payload: "$"
            }
        if steps.isEmpty { return begin + "." }
        return begin
            + steps.map { "/" + $0.replacing("~", with: "~0").replacing("/", with: "~1") }.joined()
    }
}

extension DecoderValue: CustomStringConvertible {
    /// The value as a file may write it; tests are left out.
    var description: String {
        switch self {
        case .place(let place): "\(place)"
        case .key(let outside): String(repeating: "^", count: outside) + "key"
        case .text(let text): "{text: \(text)}"
        case .path(let name): "{path: \(name)}"
        case .query(let name): "{query: \(name)}"
        case .kept(let name, let owner): "{kept: \(name)\(owner.map { ", of: \($0)" } ?? "")}"
        case .attribute(let name): "{attribute: \(name)}"
        case .first(let values): "{first: \(values)}"
        case .join(let values, _): "{join: \(values)}"
        case .split(let value, let separator, let part): "{split: \(value), by: \(separator), part: \(part)}"
        case .strip(let value, _, _): "{strip: \(value)}"
        case .json(let value, let place): "{json: \(value), at: \(place)}"
        case .time(let value, let form): "{time: \(value), as: \(form.rawValue)}"
        case .when(let value, _, _): "\(value)"
        }
    }
}
