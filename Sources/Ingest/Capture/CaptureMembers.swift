import EventLog

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The members of a capture line, not yet checked.
struct CaptureMembers {
    /// The text of `t_ms`; `nil` if it is missing, empty if it is not a number.
    private(set) var milliseconds: String?
    /// The texts of known members, by `Name`.
    private var texts = [[UInt8]?](repeating: nil, count: Name.allCases.count)
    /// A close code may be a number or a text.
    private var code: String?
    /// Which known members are there and not `null`, by `Name`.
    private var isThere = [Bool](repeating: false, count: Name.allCases.count)
    /// The names of the other members that are not `null`.
    private var others: Set<String> = []

    /// The members that mean something.
    private enum Name: Int, CaseIterable {
        case milliseconds, direction, raw, base64, path, operation, link, code

        var text: StaticString {
            switch self {
            case .milliseconds: "t_ms"
            case .direction: "dir"
            case .raw: "raw"
            case .base64: "rawBase64"
            case .path: "path"
            case .operation: "op"
            case .link: "link"
            case .code: "code"
            }
        }

        /// The member with a name; `nil` if it means nothing.
        init?(_ bytes: UnsafeBufferPointer<UInt8>) {
            let found = Self.allCases.first { name in
                let text = UnsafeBufferPointer(start: name.text.utf8Start, count: name.text.utf8CodeUnitCount)
                return text.count == bytes.count && text.elementsEqual(bytes)
            }
            guard let found else { return nil }
            self = found
        }
    }

    /// Reads one JSON object.
    mutating func read(_ line: UnsafeBufferPointer<UInt8>) throws(JSONFault) {
        var scanner = JSONScanner(line)
        guard try scanner.next()?.kind == .beginObject else {
            throw JSONFault(offset: 0, reason: "it does not begin with {")
        }
        while let token = try scanner.next() {
            guard token.kind == .name else { continue }
            let bytes = token.hasEscapes ? try JSONEscape.decode(line, token) : nil
            let known =
                if let bytes { bytes.withUnsafeBufferPointer { Name($0) } } else {
                    Name(.init(rebasing: line[token.range]))
                }
            if let known {
                if isThere[known.rawValue] { throw repeated(String(describing: known.text), token) }
                isThere[known.rawValue] = try readValue(of: known, line, &scanner)
            } else {
                let name = String(decoding: bytes ?? Array(line[token.range]), as: UTF8.self)
                if others.contains(name) { throw repeated(name, token) }
                if try !skipsNull(line, &scanner) { others.insert(name) }
            }
        }
    }

    private func repeated(_ name: String, _ token: JSONScanner.Token) -> JSONFault {
        JSONFault(offset: token.range.lowerBound, reason: "the member \"\(name.prefix(40))\" stands twice")
    }

    /// Reads the value of a known member; false if it counts as absent.
    private mutating func readValue(
        of name: Name,
        _ line: UnsafeBufferPointer<UInt8>,
        _ scanner: inout JSONScanner
    ) throws(JSONFault) -> Bool {
        let depth = scanner.depth
        guard let value = try scanner.next() else { return true }
        var isThere = true
        switch (name, value.kind) {
        case (.milliseconds, .number): milliseconds = String(decoding: line[value.range], as: UTF8.self)
        case (.milliseconds, _): milliseconds = ""
        case (.code, .string): code = String(decoding: try JSONEscape.decode(line, value), as: UTF8.self)
        case (.code, .number): code = String(decoding: line[value.range], as: UTF8.self)
        case (_, .literal) where Self.isNull(line, value): isThere = false
        case (.code, _): break
        case (_, .string): texts[name.rawValue] = try JSONEscape.decode(line, value)
        default:
            throw JSONFault(offset: value.range.lowerBound, reason: "the member \"\(name.text)\" is no string")
        }
        while scanner.depth > depth { _ = try scanner.next() }
        assert(scanner.depth == depth, "a member's value is passed over as a whole")
        return isThere
    }

    /// Passes over the value of another member; true if it is `null`.
    private func skipsNull(
        _ line: UnsafeBufferPointer<UInt8>,
        _ scanner: inout JSONScanner
    ) throws(JSONFault) -> Bool {
        let depth = scanner.depth
        guard let value = try scanner.next() else { return false }
        while scanner.depth > depth { _ = try scanner.next() }
        return value.kind == .literal && Self.isNull(line, value)
    }

    private static func isNull(_ line: UnsafeBufferPointer<UInt8>, _ token: JSONScanner.Token) -> Bool {
        line[token.range.lowerBound] == 0x6E
    }
}

extension CaptureMembers {
    /// The content of the line: everything but its time.
    func content() throws(CaptureFault) -> CaptureLine.Content {
        if let link = text(.link) { return try self.link(link) }
        if isThere[Name.path.rawValue] || isThere[Name.operation.rawValue] { return try file() }
        guard let direction = text(.direction) else { throw CaptureFault(reason: "\"dir\" is missing") }
        guard let direction = FrameDirection(rawValue: direction) else {
            throw CaptureFault(reason: "\"dir\" is neither \"in\" nor \"out\"")
        }
        guard let bytes = try bytes() else { throw CaptureFault(reason: "\"raw\" or \"rawBase64\" is missing") }
        return .frame(direction, bytes)
    }

    private func link(_ state: String) throws(CaptureFault) -> CaptureLine.Content {
        guard state == "open" || state == "close" else {
            throw CaptureFault(reason: "\"link\" is neither \"open\" nor \"close\"")
        }
        if texts[Name.raw.rawValue] != nil || texts[Name.base64.rawValue] != nil {
            throw CaptureFault(reason: "a line with \"link\" has no frame")
        }
        if let code, code.utf8.count > 256 { throw CaptureFault(reason: "\"code\" is longer than 256 bytes") }
        return .link(state: state, code: code)
    }

    private func file() throws(CaptureFault) -> CaptureLine.Content {
        guard let path = text(.path), !path.isEmpty else { throw CaptureFault(reason: "\"path\" is missing or empty") }
        guard path.utf8.count <= EnvelopeLimits.attributeBytesMax - 256 else {
            throw CaptureFault(reason: "\"path\" has \(path.utf8.count) bytes, too many for an attribute")
        }
        switch text(.operation) {
        case "write":
            guard let bytes = try bytes() else { throw CaptureFault(reason: "\"raw\" or \"rawBase64\" is missing") }
            return .file(path: path, isRemoval: false, bytes)
        case "remove":
            if let bytes = try bytes(), !bytes.isEmpty { throw CaptureFault(reason: "a removed file has no bytes") }
            return .file(path: path, isRemoval: true, [])
        case nil: throw CaptureFault(reason: "\"op\" is missing")
        default: throw CaptureFault(reason: "\"op\" is neither \"write\" nor \"remove\"")
        }
    }

    private func text(_ name: Name) -> String? {
        texts[name.rawValue].map { String(decoding: $0, as: UTF8.self) }
    }

    private func bytes() throws(CaptureFault) -> [UInt8]? {
        let raw = texts[Name.raw.rawValue]
        guard let encoded = texts[Name.base64.rawValue] else { return raw }
        if raw != nil { throw CaptureFault(reason: "both \"raw\" and \"rawBase64\" are there") }
        guard let data = Data(base64Encoded: Data(encoded)) else {
            throw CaptureFault(reason: "\"rawBase64\" is not base64 (RFC 4648, section 4)")
        }
        return Array(data)
    }
}
