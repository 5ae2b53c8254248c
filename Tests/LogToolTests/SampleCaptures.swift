import Foundation
import TestSupport

/// Small captures for tests of the command line.
enum SampleCaptures {
    /// The first time of every capture.
    static let start = 1_767_225_600_000

    /// Gateway frames: a connection, then messages `m1` … `mN` in channel 10.
    ///
    /// - Parameter padding: What each text ends with.
    static func gateway(messages count: Int, padding: String = "", answers: Bool = false) -> String {
        var lines = [line(0, #"{"op":10,"d":{"heartbeat_interval":45000}}"#)]
        lines.append(
            line(
                1,
                #"{"op":0,"s":1,"t":"CHANNEL_CREATE","d":{"id":"10","type":0,"name":"general","guild_id":"1","position":0,"topic":""}}"#
            )
        )
        for number in 1...max(count, 1) where count > 0 {
            lines.append(line(number + 1, message(number, content: "message \(number)\(padding)", answers: answers)))
        }
        return lines.joined()
    }

    /// One MESSAGE_CREATE frame.
    ///
    /// - Parameter answers: whether it answers the one before, as no gateway that is built in tells.
    static func message(_ number: Int, content: String? = nil, answers: Bool = false) -> String {
        let reply = answers && number > 1 ? #","message_reference":{"message_id":"\#(999 + number)"}"# : ""
        let text = content ?? "message \(number)"
        return #"{"op":0,"s":\#(number + 1),"t":"MESSAGE_CREATE","d":{"id":"\#(1000 + number)","channel_id":"10","#
            + #""author_id":"7","author_username":"ada","content":"\#(text)","created_at":"2026-01-01T00:00:00Z"\#(reply)}}"#
    }

    /// A decoder file that reads the frames, and what they answer.
    static let threads = """
        decoder: threads/1
        shapes:
          message:
            channel: /channel_id
            id: /id
            author: /author_id
            authorName: /author_username
            content: /content
            createdAt: /created_at
            editedAt: /edited_at
            version: /edited_at
            replyTo: /message_reference/message_id
        rules:
        - when: {/t: CHANNEL_CREATE}
          replace: channel
          at: {id: /d/id, guild: /d/guild_id}
          with: {name: /d/name, kind: {text: text}}
        - when: {/t: MESSAGE_CREATE}
          make: message
          from: /d
        - when: {/t: MESSAGE_UPDATE}
          patch: message
          from: /d
        - when: {/t: MESSAGE_DELETE}
          delete: message
          at: {channel: /d/channel_id, id: /d/id}
        samples:
        - payload: '{"t":"MESSAGE_DELETE","d":{"channel_id":"1","id":"2"}}'
          gives: '[{"messageDeleted":{"channel":"1","id":"2"}}]'

        """

    /// One capture line, so many seconds after the start.
    static func line(_ seconds: Int, _ raw: String, direction: String = "in") -> String {
        let escaped = raw.replacingOccurrences(of: #"\"#, with: #"\\"#).replacingOccurrences(of: #"""#, with: #"\""#)
        return #"{"t_ms":\#(start + seconds * 1000),"dir":"\#(direction)","raw":"\#(escaped)"}"# + "\n"
    }
}

extension TemporaryDirectory {
    /// Writes a file and gives its name.
    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(filePath: path(name)))
        return name
    }

    /// Makes the log `L` of a gateway capture with so many messages.
    ///
    /// - Parameter isLarge: Whether the texts are so long that a compaction makes the log smaller.
    func makeLog(messages count: Int, isLarge: Bool = false) throws {
        let padding = isLarge ? String(repeating: " and more", count: 300) : ""
        try write(SampleCaptures.gateway(messages: count, padding: padding), to: "c.ndjson")
        let run = try ToolRun.run(
            ["ingest", "L", "capture", "c.ndjson", "--kind", "gateway", "--as", "guild"],
            in: self
        )
        guard run.exitCode == 0 else { throw CocoaError(.fileWriteUnknown, userInfo: ["stderr": run.errors]) }
    }
    /// Makes the log `L` of the same messages, each answering the one before, which a decoder file reads.
    func makeThreads(messages count: Int, isLarge: Bool = false) throws {
        let padding = isLarge ? String(repeating: " and more", count: 300) : ""
        try write(SampleCaptures.gateway(messages: count, padding: padding, answers: true), to: "threads.ndjson")
        try write(SampleCaptures.threads, to: "threads.decoder.yaml")
        let run = try ToolRun.run(
            [
                "ingest", "L", "capture", "threads.ndjson", "--kind", "ws", "--as", "guild", "--decoder",
                "threads.decoder.yaml",
            ],
            in: self
        )
        guard run.exitCode == 0 else { throw CocoaError(.fileWriteUnknown, userInfo: ["stderr": run.errors]) }
    }

    /// Alters the second byte of each occurrence of a text in the events of a log.
    func alter(_ text: String, in log: String = "L") throws {
        let file = URL(filePath: path("\(log)/gen-000001/data.mdb"))
        var data = try Data(contentsOf: file)
        var count = 0
        while let place = data.range(of: Data(text.utf8)) {
            data[place.lowerBound + 1] = UInt8(ascii: "a")
            count += 1
        }
        guard count > 0 else { throw CocoaError(.formatting, userInfo: ["missing": text]) }
        let handle = try FileHandle(forUpdating: file)
        try handle.write(contentsOf: data)
        try handle.close()
    }
}
