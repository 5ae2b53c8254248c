import EventLog
import JSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The members of a capture line, not yet checked. `read` fills them once; `content` then judges them together.
struct CaptureMembers {
    /// The text of `t_ms`; `nil` if it is missing, empty if it is not a number.
    private(set) var milliseconds: String?
    /// The texts of known members; arrays by `Name` would cost each line two objects.
    private var texts = Texts()
    /// The close code; it may be a number or a text.
    private var code: String?
    /// The status of an answer.
    private var status: String?
    /// The known members that occurred and were not `null`: one bit each, by `Name`.
    private var present: UInt16 = 0
    /// The names of the other members that are not `null`.
    private var others: Set<String> = []
    private let decodesFrame: Bool

    /// - Parameter decodesFrame: as in `CaptureLine`.
    init(decodesFrame: Bool) {
        self.decodesFrame = decodesFrame
    }

    private struct Texts {
        var direction, raw, base64, path, operation, link, observed: [UInt8]?
    }

    /// The members that mean something.
    private enum Name: Int, CaseIterable {
        case milliseconds, direction, raw, base64, path, operation, link, code, status, observed

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
            case .status: "status"
            case .observed: "observed"
            }
        }

        /// The member with a name; `nil` if it means nothing.
        init?(_ text: JSONText) {
            guard let found = Self.all.first(where: { text == $0.text }) else { return nil }
            self = found
        }

        /// Made once: `allCases` makes an array at each call.
        private static let all = allCases
    }

    /// Reads one JSON object.
    ///
    /// - Throws: `JSONError` if the line is not one JSON object in UTF-8, a member occurs twice, or a member that must be a
    ///   text is none.
    mutating func read(_ line: UnsafeBufferPointer<UInt8>) throws(JSONError) {
        var reader = JSONReader(UnsafeRawBufferPointer(line), levelsMax: .max)
        guard try reader.kind() == .object else { throw JSONError(offset: 0, reason: "it does not begin with {") }
        try reader.enterObject()
        while let name = try reader.nextMember() {
            let start = reader.offset(of: name)
            // Names are compared decoded, so that an escape cannot hide that a member occurs twice. `null` counts as
            // absent: it may come twice.
            if let known = Name(name) {
                if contains(known) { throw Self.repeated(String(describing: known.text), at: start) }
                if try readValue(of: known, &reader, line) { present |= 1 << known.rawValue }
            } else {
                let name = String(decoding: try name.decoded(), as: UTF8.self)
                // An unknown member twice is a fault, too (docs/events.md).
                if others.contains(name) { throw Self.repeated(name, at: start) }
                let isNull = try reader.kind() == .null
                try reader.skip()
                if !isNull { others.insert(name) }
            }
        }
        try reader.finish()
    }

    private func contains(_ name: Name) -> Bool { present & 1 << name.rawValue != 0 }

    /// The fault of a member that occurs twice; quotes at most 40 characters of its name.
    private static func repeated(_ name: String, at offset: Int) -> JSONError {
        JSONError(offset: offset, reason: "the member \"\(name.prefix(40))\" stands twice")
    }

    /// Reads the value of a known member; false if it counts as absent.
    private mutating func readValue(
        of name: Name,
        _ reader: inout JSONReader,
        _ line: UnsafeBufferPointer<UInt8>
    ) throws(JSONError) -> Bool {
        let kind = try reader.kind()
        let start = reader.offset
        switch (name, kind) {
        case (.milliseconds, .number):
            milliseconds = String(decoding: try reader.number().bytes, as: UTF8.self)
            return true
        case (.code, .number): code = String(decoding: try reader.number().bytes, as: UTF8.self)
        case (.code, .string): code = String(decoding: try reader.string().decoded(), as: UTF8.self)
        case (.milliseconds, _):
            milliseconds = ""
            try reader.skip()
            return true
        case (_, .null):
            try reader.null()
            return false
        case (.status, .number): status = String(decoding: try reader.number().bytes, as: UTF8.self)
        case (.code, _), (.status, _): try reader.skip()
        case (.observed, .object):
            try reader.skip()
            texts.observed = Array(line[start..<reader.offset])
        case (.observed, _): throw JSONError(offset: start, reason: "the member \"observed\" is no object")
        case (.direction, .string): texts.direction = try reader.string().decoded()
        case (.raw, .string): texts.raw = try frame(try reader.string())
        case (.base64, .string): texts.base64 = try reader.string().decoded()
        case (.path, .string): texts.path = try reader.string().decoded()
        case (.operation, .string): texts.operation = try reader.string().decoded()
        case (.link, .string): texts.link = try reader.string().decoded()
        default: throw JSONError(offset: start, reason: "the member \"\(name.text)\" is no string")
        }
        return true
    }
}

extension CaptureMembers {
    /// The bytes of a frame, or a zero in their place.
    private func frame(_ text: JSONText) throws(JSONError) -> [UInt8] {
        if decodesFrame { return try text.decoded() }
        try text.checkDecodes()
        return text.bytes.isEmpty ? [] : [0]
    }

    /// The content of the line: everything but its time.
    func content() throws(CaptureFault) -> CaptureLine.Content {
        if let observed = texts.observed { return .observed(observed) }
        // `link` decides before `path` and `op`, and those before `dir`.
        if let link = Self.text(texts.link) { return try self.link(link) }
        let isAnswer = contains(.path) && contains(.direction) && !contains(.operation)
        if !isAnswer, contains(.path) || contains(.operation) { return try file() }
        guard let direction = Self.text(texts.direction) else { throw CaptureFault(reason: "\"dir\" is missing") }
        guard let direction = FrameDirection(rawValue: direction) else {
            throw CaptureFault(reason: "\"dir\" is neither \"in\" nor \"out\"")
        }
        guard let bytes = try bytes() else { throw CaptureFault(reason: "\"raw\" or \"rawBase64\" is missing") }
        guard isAnswer else { return .frame(direction, bytes) }
        if let status, status.utf8.count > 16 { throw CaptureFault(reason: "\"status\" is no status of HTTP") }
        return .answer(direction, path: try path(), status: status, bytes)
    }

    /// The path, which becomes an attribute.
    private func path() throws(CaptureFault) -> String {
        guard let path = Self.text(texts.path), !path.isEmpty else {
            throw CaptureFault(reason: "\"path\" is missing or empty")
        }
        // The attributes of an event have a limit together (I3); 256 bytes are room for the others.
        guard path.utf8.count <= EnvelopeLimits.attributeBytesMax - 256 else {
            throw CaptureFault(reason: "\"path\" has \(path.utf8.count) bytes, too many for an attribute")
        }
        return path
    }

    /// The content of a line that opens or closes a connection. The code becomes an attribute, so its length is
    /// limited.
    private func link(_ state: String) throws(CaptureFault) -> CaptureLine.Content {
        guard state == "open" || state == "close" else {
            throw CaptureFault(reason: "\"link\" is neither \"open\" nor \"close\"")
        }
        if texts.raw != nil || texts.base64 != nil {
            throw CaptureFault(reason: "a line with \"link\" has no frame")
        }
        if let code, code.utf8.count > 256 { throw CaptureFault(reason: "\"code\" is longer than 256 bytes") }
        return .link(state: state, code: code, path: contains(.path) ? try path() : nil)
    }

    /// The content of a line about a status file.
    private func file() throws(CaptureFault) -> CaptureLine.Content {
        let path = try path()
        switch Self.text(texts.operation) {
        case "write":
            guard let bytes = try bytes() else { throw CaptureFault(reason: "\"raw\" or \"rawBase64\" is missing") }
            return .file(path: path, isRemoval: false, bytes)
        case "remove":
            if let bytes = try bytes(), !bytes.isEmpty { throw CaptureFault(reason: "a removed file has no bytes") }
            return .file(path: path, isRemoval: true, [])
        case nil:
            throw CaptureFault(reason: "beside \"path\" stands neither \"dir\" nor, of a status file, \"op\"")
        default: throw CaptureFault(reason: "\"op\" is neither \"write\" nor \"remove\"")
        }
    }

    private static func text(_ bytes: [UInt8]?) -> String? {
        bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The bytes of `raw` or `rawBase64`; `nil` if the line has neither.
    private func bytes() throws(CaptureFault) -> [UInt8]? {
        guard let encoded = texts.base64 else { return texts.raw }
        if texts.raw != nil { throw CaptureFault(reason: "both \"raw\" and \"rawBase64\" are there") }
        guard let data = Data(base64Encoded: Data(encoded)) else {
            throw CaptureFault(reason: "\"rawBase64\" is not base64 (RFC 4648, section 4)")
        }
        return Array(data)
    }
}
