#if Recorders
import EventLog
import Projections

/// Reads and makes gateway frames, as far as playback needs.
enum GatewayText {
    /// The member `op` of a frame; `nil` if the frame is no JSON or has none. Parses the whole frame.
    static func operation(_ frame: [UInt8]) -> Int? {
        (try? JSONValue.parse(frame)).flatMap { $0["op"]?.number?.int64 }.flatMap { Int(exactly: $0) }
    }

    /// Returns true for HELLO. Frames over 1,024 bytes are not parsed: HELLO is short.
    static func isHello(_ frame: [UInt8]) -> Bool {
        frame.count <= 1_024 && operation(frame) == 10
    }

    /// A HELLO for logs without one, with Discord's interval in milliseconds.
    static let hello = Array(#"{"op":10,"d":{"heartbeat_interval":41250}}"#.utf8)

    static let acknowledgement = Array(#"{"op":11}"#.utf8)

    /// A READY for logs without one, in Retrocast's shape. Ids that are no numbers are left out, because Retrocast
    /// writes ids as numbers there.
    static func ready(guilds: [String]) -> [UInt8] {
        let numbers = guilds.filter { UInt64($0) != nil }.joined(separator: ",")
        let data = #"{"session_id":"play","user_id":"0","guilds":[\#(numbers)],"read_states":null}"#
        return Array(#"{"op":0,"d":\#(data),"s":1,"t":"READY"}"#.utf8)
    }

    /// READY with `resume_gateway_url` set to this server, so that the client does not leave for the remote. All other
    /// bytes stay, hence no parsing and rewriting.
    ///
    /// Returns the frame itself if it has no such member or the member is no text.
    static func ready(_ frame: [UInt8], resumingAt url: String) -> [UInt8] {
        let name = Array(#""resume_gateway_url""#.utf8)
        guard let place = frame.firstRange(of: name) else { return frame }
        var start = place.upperBound
        // To the value's opening quote; a comma or brace before it means that the value is no text (null).
        while start < frame.count, frame[start] != 0x22, frame[start] != 0x2C, frame[start] != 0x7D { start += 1 }
        guard start < frame.count, frame[start] == 0x22 else { return frame }
        var end = start + 1
        // A backslash (0x5C) escapes the next byte, which may be a quote.
        while end < frame.count, frame[end] != 0x22 { end += frame[end] == 0x5C ? 2 : 1 }
        guard end < frame.count else { return frame }
        return frame[..<start] + Array("\"\(url)\"".utf8) + frame[(end + 1)...]
    }
}
#endif
