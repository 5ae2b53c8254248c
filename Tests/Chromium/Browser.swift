import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A chromium without a window, driven by its own protocol over two pipes: no port, no WebSocket. For one thread.
package final class Browser {
    /// Where it is; `nil` if none is installed. `EVENTLOG_CHROMIUM` names another one.
    package static var path: String? {
        let named = ProcessInfo.processInfo.environment["EVENTLOG_CHROMIUM"].map { [$0] } ?? []
        return (named + ["/usr/bin/chromium"]).first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    package struct Fault: Error, CustomStringConvertible {
        package let description: String
    }

    private let process = Process()
    /// What is written goes to the browser, what is read comes from it.
    private let (commands, answers): (Int32, Int32)
    private var read: [UInt8] = []
    private var last = 0
    private var session: String?

    /// Starts it with a window of so many pixels; its files are in a folder.
    package init(in folder: String, width: Int = 1400, height: Int = 900) throws {
        guard let path = Self.path else { throw Fault(description: "chromium is not installed") }
        let names = ["commands", "answers"].map { "\(folder)/.\($0)-\(UUID().uuidString)" }
        for name in names { guard mkfifo(name, 0o600) == 0 else { throw Fault(description: "no pipe \(name)") } }
        // Both ends, so that no opening waits for the other side.
        (commands, answers) = (open(names[0], O_RDWR), open(names[1], O_RDWR))
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            "-c", "in=$1 out=$2; shift 2; exec \"$@\" 3<\"$in\" 4>\"$out\"", "sh", names[0], names[1],
            path, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--user-data-dir=\(folder)/profile-\(UUID().uuidString)", "--remote-debugging-pipe",
            "--force-device-scale-factor=1", "about:blank",
        ]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        let target = try call("Target.createTarget", ["url": "about:blank"])
        let attached = try call(
            "Target.attachToTarget",
            ["targetId": target["targetId"] ?? "", "flatten": true]
        )
        session = attached["sessionId"] as? String
        try call("Page.enable")
        let metrics: [String: Any] = ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false]
        try call("Emulation.setDeviceMetricsOverride", metrics)
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        close(commands)
        close(answers)
    }

    /// One command, and its result.
    @discardableResult
    package func call(_ method: String, _ parameters: [String: Any] = [:]) throws -> [String: Any] {
        last += 1
        var message: [String: Any] = ["id": last, "method": method, "params": parameters]
        if let session { message["sessionId"] = session }
        try send([UInt8](JSONSerialization.data(withJSONObject: message)) + [0])
        while true {
            let answer = try next()
            guard answer["id"] as? Int == last else { continue }
            if let error = answer["error"] as? [String: Any] {
                throw Fault(description: "\(method): \(error["message"] ?? "")")
            }
            return answer["result"] as? [String: Any] ?? [:]
        }
    }

    /// The processes of the pages.
    package func renderers() throws -> [Int] {
        let page = session
        session = nil
        defer { session = page }
        let processes = try call("SystemInfo.getProcessInfo")["processInfo"] as? [[String: Any]] ?? []
        return processes.filter { $0["type"] as? String == "renderer" }.compactMap { $0["id"] as? Int }
    }

    /// What a script gives, also by a promise.
    @discardableResult
    package func value(_ script: String) throws -> Any? {
        let parameters: [String: Any] = ["expression": script, "awaitPromise": true, "returnByValue": true]
        let result = try call("Runtime.evaluate", parameters)
        if let details = result["exceptionDetails"] as? [String: Any] {
            let exception = details["exception"] as? [String: Any]
            throw Fault(description: "\(script): \(exception?["description"] ?? details["text"] ?? "")")
        }
        return (result["result"] as? [String: Any])?["value"]
    }

    /// Opens a page of a log and waits until it shows a step.
    package func show(page address: String) throws {
        try call("Page.navigate", ["url": address])
        let shows = "!!(window.page && window.page.timeline.step() && document.querySelector('#event h2'))"
        try wait(for: shows)
    }

    /// Waits until a script gives true.
    package func wait(for script: String) throws {
        let end = ContinuousClock.now + .seconds(60)
        while try value(script) as? Bool != true {
            guard ContinuousClock.now < end else { throw Fault(description: "never: \(script)") }
            // The browser itself waits, for its next picture.
            try value("new Promise((done) => setTimeout(done, 20))")
        }
    }

    /// Presses a key, as a person does.
    package func press(_ key: String, shift: Bool = false) throws {
        let isText = key.count == 1
        var parameters: [String: Any] = [
            "type": isText ? "keyDown" : "rawKeyDown", "key": key, "modifiers": shift ? 8 : 0,
        ]
        if isText { parameters["text"] = key }
        try call("Input.dispatchKeyEvent", parameters)
        try call("Input.dispatchKeyEvent", ["type": "keyUp", "key": key, "modifiers": shift ? 8 : 0])
    }

    private func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(commands, $0.baseAddress, $0.count) }
            guard count > 0 else { throw Fault(description: "the browser takes nothing") }
            rest = rest.dropFirst(count)
        }
    }

    /// The next message; an event, or an answer.
    private func next() throws -> [String: Any] {
        while true {
            if let end = read.firstIndex(of: 0) {
                let message = try JSONSerialization.jsonObject(with: Data(read[..<end]))
                read.removeSubrange(...end)
                return message as? [String: Any] ?? [:]
            }
            var ready = pollfd(fd: answers, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, 60_000) > 0 else { throw Fault(description: "the browser says nothing") }
            var piece = [UInt8](repeating: 0, count: 1 << 16)
            let count = Self.read(answers, &piece)
            guard count > 0 else { throw Fault(description: "the browser has ended") }
            read += piece[..<count]
        }
    }

    private static func read(_ file: Int32, _ piece: inout [UInt8]) -> Int {
        piece.withUnsafeMutableBytes { buffer in
            #if canImport(Glibc)
            Glibc.read(file, buffer.baseAddress, buffer.count)
            #else
            Darwin.read(file, buffer.baseAddress, buffer.count)
            #endif
        }
    }
}
