import EventLog
import Kinds
import Projections

/// A payload as a tree that can be cut: JSON, alone or in the lines of a Server-Sent Event.
///
/// Anything else stays as it is. In a commit only texts are cut, because its other members describe the tree; frames
/// keep their outermost members, because those say what a frame is. Only parts that are cut or mapped are written anew;
/// all other bytes stay as recorded.
struct Payload {
    /// One place where something can be left out. It is valid until a cut before it changes the tree.
    struct Cut {
        enum Kind {
            /// This many parts, each of which may go: members, elements or lines.
            case parts(Int)
            /// A text that may be cut to one of these lengths, in Unicode scalars.
            case text(lengths: [Int])
        }

        /// The segment's index; -1 for the cut that leaves out whole segments.
        fileprivate let segment: Int
        /// Indexes of members and elements from the segment's value down.
        fileprivate let path: [Int]
        let kind: Kind
    }

    /// Bytes around one JSON value, or bytes that are none.
    struct Segment {
        /// The bytes before the value: LF, `data:` and spaces of an event stream's line.
        var lead: [UInt8]
        /// `nil` for bytes that are no JSON, which are never cut.
        var value: JSONValue?
        /// The value's recorded bytes, or those of the cut value.
        var raw: [UInt8]
        /// True for `data:` lines, which may go as a whole.
        var isOptional = false

        var bytes: [UInt8] { lead + raw }
    }

    var segments: [Segment]
    let reader: KnownKind.Shrink

    /// Takes a payload apart by its kind. Bytes that are no JSON become one segment without a value.
    init(of draft: DraftEvent) {
        reader = KnownKind(draft.kind)?.row.shrink ?? .value
        segments =
            reader == .stream
            ? Self.lines(of: draft.payload)
            : [Segment(lead: [], value: try? JSONValue.parse(draft.payload), raw: draft.payload)]
    }

    /// The lines of an event stream's event. Each but the first begins with the LF before it, so that joined segments
    /// give the recorded bytes.
    private static func lines(of payload: [UInt8]) -> [Segment] {
        let data = Array("data:".utf8)
        return payload.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated().map {
            place,
            line in
            let start: [UInt8] = place == 0 ? [] : [UInt8(ascii: "\n")]
            guard line.starts(with: data) else { return Segment(lead: start, value: nil, raw: Array(line)) }
            let space = line.dropFirst(data.count).prefix { $0 == UInt8(ascii: " ") }
            let rest = Array(line.dropFirst(data.count + space.count))
            return Segment(lead: start + data + space, value: try? JSONValue.parse(rest), raw: rest, isOptional: true)
        }
    }

    var bytes: [UInt8] { segments.flatMap(\.bytes) }

    // MARK: - Cuts

    /// All places in breadth-first order: outer ones first, because what they remove needs no cuts of its own. A cut
    /// changes only places after its own, so a caller can go through the list by index while it cuts.
    var cuts: [Cut] {
        let optional = segments.count(where: \.isOptional)
        // Places are listed even if nothing can be left out there, so that indexes do not shift.
        var cuts = [Cut(segment: -1, path: [], kind: .parts(optional > 1 ? optional : 0))]
        for (number, segment) in segments.enumerated() {
            guard let value = segment.value else { continue }
            var queue: [(path: [Int], value: JSONValue)] = [([], value)]
            var next = 0
            while next < queue.count {
                let (path, value) = queue[next]
                next += 1
                cuts += self.cuts(of: value, at: path, in: number)
                queue += value.children.enumerated().map { (path + [$0], $1) }
            }
        }
        return cuts
    }

    /// The cuts of one value: lines and length of a text, or the parts of a container.
    private func cuts(of value: JSONValue, at path: [Int], in segment: Int) -> [Cut] {
        if case .string(let text) = value {
            let isOpen = reader != .commit || isText(path, in: segment)
            let lines = isOpen && text.contains("\n") ? text.lines.count : 0
            let lengths = isOpen ? Self.lengths(for: text) : []
            return [
                Cut(segment: segment, path: path, kind: .parts(lines)),
                Cut(segment: segment, path: path, kind: .text(lengths: lengths)),
            ]
        }
        let isKept = reader == .commit || reader == .frame && path.isEmpty
        return [Cut(segment: segment, path: path, kind: .parts(isKept ? 0 : value.children.count))]
    }

    /// True for a text of a commit document that does not describe the tree: subject, message, or the text of a file.
    private func isText(_ path: [Int], in segment: Int) -> Bool {
        guard let root = segments[segment].value?.object?.members, let first = path.first else { return false }
        let name = root[first].name
        if path.count == 1 { return name == "subject" || name == "message" }
        guard name == "files", path.count == 3, let file = root[first].value.array?[path[1]].object else {
            return false
        }
        return file.members[path[2]].name == "text"
    }

    /// Lengths to try for prose: 1, 2, 4, … below its own. Empty for ids, times and addresses, which lose their
    /// meaning.
    private static func lengths(for text: String) -> [Int] {
        let count = text.unicodeScalars.count
        let isProse = count > 32 || text.unicodeScalars.contains { $0 == " " || $0 == "\n" }
        guard count > 3, isProse, !text.isTimeLike, !text.isIdentifierLike, !text.hasPrefix("http") else { return [] }
        return Array(sequence(first: 1) { $0 * 2 }.prefix { $0 < count })
    }

    // MARK: - Cutting

    /// The payload with only these of the removable parts; `kept` is ascending. The JSON value around them is written
    /// anew.
    func keeping(_ kept: [Int], of cut: Cut) -> Payload {
        var payload = self
        guard cut.segment >= 0 else {
            let optional = segments.indices.filter { segments[$0].isOptional }
            let wanted = Set(kept.map { optional[$0] })
            payload.segments = segments.indices.filter { !segments[$0].isOptional || wanted.contains($0) }
                .map { segments[$0] }
            return payload
        }
        payload.edit(cut) { value in
            switch value {
            case .string(let text):
                let lines = text.lines
                return .string(kept.map { lines[$0] }.joined())
            default: return value.keeping(kept)
            }
        }
        return payload
    }

    /// The payload with a text cut to its first `length` scalars.
    func keeping(first length: Int, of cut: Cut) -> Payload {
        var payload = self
        payload.edit(cut) { value in
            .string(String(String.UnicodeScalarView((value.string ?? "").unicodeScalars.prefix(length))))
        }
        return payload
    }

    /// Replaces one part of a segment's value and writes the segment's bytes.
    private mutating func edit(_ cut: Cut, _ body: (JSONValue) -> JSONValue) {
        guard let value = segments[cut.segment].value else { return }
        let edited = value.edited(at: cut.path[...], body)
        segments[cut.segment].value = edited
        segments[cut.segment].raw = Array(edited.text.utf8)
    }
}

extension JSONValue {
    /// The members' values or the elements.
    var children: [JSONValue] {
        switch self {
        case .object(let object): object.members.map(\.value)
        case .array(let elements): elements
        default: []
        }
    }

    /// The container with only these members or elements.
    func keeping(_ kept: [Int]) -> JSONValue {
        switch self {
        case .object(let object):
            var result = JSONObject()
            for index in kept { result[object.members[index].name] = object.members[index].value }
            return .object(result)
        case .array(let elements): return .array(kept.map { elements[$0] })
        default: return self
        }
    }

    /// The value with the part at a path put through `body`.
    func edited(at path: ArraySlice<Int>, _ body: (JSONValue) -> JSONValue) -> JSONValue {
        guard let first = path.first else { return body(self) }
        switch self {
        case .object(var object):
            let member = object.members[first]
            object[member.name] = member.value.edited(at: path.dropFirst(), body)
            return .object(object)
        case .array(var elements):
            elements[first] = elements[first].edited(at: path.dropFirst(), body)
            return .array(elements)
        default: return self
        }
    }
}

extension String {
    /// The lines, each with its LF. By scalars, because Swift counts CR LF as one character, which is not LF.
    var lines: [String] {
        var lines: [String.UnicodeScalarView] = [.init()]
        for scalar in unicodeScalars {
            lines[lines.count - 1].append(scalar)
            if scalar == "\n" { lines.append(.init()) }
        }
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines.map { String($0) }
    }

    /// True if the text begins as RFC 3339 has times: `2026-`.
    var isTimeLike: Bool {
        let start = Array(utf8.prefix(5))
        return start.count == 5 && start[4] == UInt8(ascii: "-")
            && start.prefix(4).allSatisfy { (0x30...0x39).contains($0) }
    }

    /// True if the text may be a number, a hash or a UUID: hexadecimal digits and dashes, at least one of them 0 to 9.
    var isIdentifierLike: Bool {
        let isHex = utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20) || byte == UInt8(ascii: "-")
        }
        return isHex && utf8.contains { (0x30...0x39).contains($0) }
    }
}
