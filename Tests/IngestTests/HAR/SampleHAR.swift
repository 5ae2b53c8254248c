import Foundation

/// Hand-made HARs.
enum SampleHAR {
    /// The start of every sample, in seconds since 1970: 2026-02-01T10:00:00Z.
    static let start = 1_769_940_000

    /// A document with these entries.
    static func document(_ entries: [String]) -> String {
        #"{"log":{"version":"1.2","creator":{"name":"WebInspector","version":"537.36"},"pages":[],"entries":["#
            + entries.joined(separator: ",") + "]}}"
    }

    /// A WebSocket as Chrome writes it.
    static func socket(
        _ url: String,
        _ messages: [String],
        at started: String = "2026-02-01T10:00:00.000Z",
        time: String = "50"
    ) -> String {
        #"{"_resourceType":"websocket","startedDateTime":"\#(started)","time":\#(time),"#
            + #""request":{"method":"GET","url":"\#(url)","headers":[{"name":"Authorization","value":"Bearer hhh"}]},"#
            + #""response":{"status":101,"content":{"size":0,"mimeType":"x-unknown"}},"#
            + #""_webSocketMessages":[\#(messages.joined(separator: ","))]}"#
    }

    /// A gateway's WebSocket.
    static func socket(
        _ messages: [String],
        at started: String = "2026-02-01T10:00:00.000Z",
        time: String = "50"
    ) -> String {
        socket("wss://chat.example.org/gateway", messages, at: started, time: time)
    }

    /// One message, so many milliseconds after the start.
    static func message(_ milliseconds: Int, _ data: String, type: String = "receive", opcode: String = "1") -> String {
        let time = "\(start + milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst())"
        return #"{"type":"\#(type)","time":\#(time),"opcode":\#(opcode),"data":\#(quoted(data))}"#
    }

    /// A request and its answer.
    static func answer(
        _ url: String,
        _ text: String?,
        method: String = "GET",
        status: Int = 200,
        type: String = "application/json",
        at started: String = "2026-02-01T10:00:00.100Z",
        time: String = "20.5",
        asked: String? = nil,
        more: String = "",
        encoding: String? = nil
    ) -> String {
        let body = text.map { #","text":\#(quoted($0))"# } ?? ""
        let coding = encoding.map { #","encoding":"\#($0)""# } ?? ""
        let post = asked.map { #","postData":{"mimeType":"application/json","text":\#(quoted($0))}"# } ?? ""
        return
            #"{"startedDateTime":"\#(started)","time":\#(time),"#
            + #""request":{"method":"\#(method)","url":"\#(url)"\#(post)},"#
            + #""response":{"status":\#(status),"headers":[{"name":"Set-Cookie","value":"hhh"}],"#
            + #""content":{"size":1,"mimeType":"\#(type)"\#(body)\#(coding)}}\#(more)}"#
    }

    static func quoted(_ text: String) -> String {
        let escaped = text.replacingOccurrences(of: #"\"#, with: #"\\"#).replacingOccurrences(of: #"""#, with: #"\""#)
            .replacingOccurrences(of: "\n", with: #"\n"#)
        return "\"\(escaped)\""
    }
}
