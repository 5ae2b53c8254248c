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
    private var texts: [String: [UInt8]] = [:]
    /// A close code may be a number or a text.
    private var code: String?
    private var names: Set<String> = []

    private static let textNames: Set<String> = ["dir", "raw", "rawBase64", "path", "op", "link"]

    /// Reads one JSON object.
    mutating func read(_ line: UnsafeBufferPointer<UInt8>) throws(JSONFault) {
        var scanner = JSONScanner(line)
        guard try scanner.next()?.kind == .beginObject else {
            throw JSONFault(offset: 0, reason: "it does not begin with {")
        }
        while let token = try scanner.next() {
            guard token.kind == .name else { continue }
            let name = String(decoding: try JSONEscape.decode(line, token), as: UTF8.self)
            guard names.insert(name).inserted else {
                throw JSONFault(
                    offset: token.range.lowerBound,
                    reason: "the member \"\(name.prefix(40))\" stands twice"
                )
            }
            try readValue(of: name, line, &scanner)
        }
    }

    private mutating func readValue(
        of name: String,
        _ line: UnsafeBufferPointer<UInt8>,
        _ scanner: inout JSONScanner
    ) throws(JSONFault) {
        let depth = scanner.depth
        guard let value = try scanner.next() else { return }
        switch value.kind {
        case .string where Self.textNames.contains(name): texts[name] = try JSONEscape.decode(line, value)
        case .string where name == "code": code = String(decoding: try JSONEscape.decode(line, value), as: UTF8.self)
        case .number where name == "code": code = String(decoding: line[value.range], as: UTF8.self)
        case .number where name == "t_ms": milliseconds = String(decoding: line[value.range], as: UTF8.self)
        case _ where name == "t_ms": milliseconds = ""
        case .literal where Self.isNull(line, value): names.remove(name)
        case _ where Self.textNames.contains(name):
            throw JSONFault(offset: value.range.lowerBound, reason: "the member \"\(name)\" is no string")
        default: break
        }
        while scanner.depth > depth { _ = try scanner.next() }
        assert(scanner.depth == depth, "a member's value is passed over as a whole")
    }

    private static func isNull(_ line: UnsafeBufferPointer<UInt8>, _ token: JSONScanner.Token) -> Bool {
        line[token.range.lowerBound] == 0x6E
    }
}

extension CaptureMembers {
    /// The content of the line: everything but its time.
    func content() throws(CaptureFault) -> CaptureLine.Content {
        if let link = text("link") { return try self.link(link) }
        if names.contains("path") || names.contains("op") { return try file() }
        guard let direction = text("dir") else { throw CaptureFault(reason: "\"dir\" is missing") }
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
        if texts["raw"] != nil || texts["rawBase64"] != nil {
            throw CaptureFault(reason: "a line with \"link\" has no frame")
        }
        if let code, code.utf8.count > 256 { throw CaptureFault(reason: "\"code\" is longer than 256 bytes") }
        return .link(state: state, code: code)
    }

    private func file() throws(CaptureFault) -> CaptureLine.Content {
        guard let path = text("path"), !path.isEmpty else { throw CaptureFault(reason: "\"path\" is missing or empty") }
        guard path.utf8.count <= EnvelopeLimits.attributeBytesMax - 256 else {
            throw CaptureFault(reason: "\"path\" has \(path.utf8.count) bytes, too many for an attribute")
        }
        switch text("op") {
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

    private func text(_ name: String) -> String? {
        texts[name].map { String(decoding: $0, as: UTF8.self) }
    }

    private func bytes() throws(CaptureFault) -> [UInt8]? {
        guard let encoded = texts["rawBase64"] else { return texts["raw"] }
        if texts["raw"] != nil { throw CaptureFault(reason: "both \"raw\" and \"rawBase64\" are there") }
        guard let data = Data(base64Encoded: Data(encoded)) else {
            throw CaptureFault(reason: "\"rawBase64\" is not base64 (RFC 4648, section 4)")
        }
        return Array(data)
    }
}
