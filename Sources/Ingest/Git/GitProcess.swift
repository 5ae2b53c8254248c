import Foundation

/// One running `git`: a reader of what it prints, a writer of what it is asked, and what it complained about.
///
/// Ends the program when it goes. Used by one thread at a time.
final class GitProcess {
    /// How a program ended.
    struct Ending {
        let status: Int32
        /// The last complaint, one line; empty if there is none.
        let complaint: String
    }

    let output: PipeReader
    private let process = Process()
    private let input: PipeWriter?
    private let complaints: ComplaintReader
    private var ending: Ending?

    init(executable: URL, arguments: [String], environment: [String: String], takesInput: Bool, subject: String)
        throws
    {
        process.executableURL = executable
        process.arguments = arguments
        process.environment = environment
        let standardOutput = Pipe()
        let standardError = Pipe()
        let standardInput = takesInput ? Pipe() : nil
        process.standardOutput = standardOutput
        process.standardError = standardError
        process.standardInput = standardInput ?? FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            throw IngestError(
                .io,
                operation: "start git for",
                object: subject,
                reason: "\(executable.path) cannot be started: \(error.localizedDescription)"
            )
        }
        output = PipeReader(owning: Self.takeDescriptor(standardOutput.fileHandleForReading))
        complaints = ComplaintReader(owning: Self.takeDescriptor(standardError.fileHandleForReading))
        input = standardInput.map { PipeWriter(owning: Self.takeDescriptor($0.fileHandleForWriting)) }
    }

    deinit {
        finish()
    }

    /// Queues bytes for its standard input.
    func submit(_ bytes: [UInt8]) {
        input?.submit(bytes)
    }

    /// Says that no more input comes, so that the program prints what it holds back and ends.
    func finishInput() {
        input?.finish()
    }

    /// Closes both pipes and waits for the end; later calls give the same ending.
    @discardableResult
    func finish() -> Ending {
        if let ending { return ending }
        input?.finish()
        output.close()
        process.waitUntilExit()
        let complaint = complaints.lastLine()
        let status = process.terminationReason == .exit ? process.terminationStatus : 128 &+ process.terminationStatus
        let ending = Ending(status: status, complaint: complaint)
        self.ending = ending
        return ending
    }

    /// A descriptor of our own, which the handle's end does not close and which other children do not inherit.
    private static func takeDescriptor(_ handle: FileHandle) -> Int32 {
        let descriptor = fcntl(handle.fileDescriptor, F_DUPFD_CLOEXEC, 0)
        try? handle.close()
        return descriptor
    }
}

/// Reads what a program complains about on a thread of its own, so that complaining never blocks it.
private final class ComplaintReader: @unchecked Sendable {
    private static let sizeMax = 64 << 10
    private let done = DispatchSemaphore(value: 0)
    private let lock = NSLock()
    // Guarded by `lock`.
    private var text: [UInt8] = []

    init(owning descriptor: Int32) {
        let thread = Thread { self.run(descriptor) }
        thread.stackSize = 512 << 10
        thread.start()
    }

    /// The last line that is not empty, once the program has ended.
    func lastLine() -> String {
        done.wait()
        done.signal()
        let lines = lock.withLock { text }.split(separator: 0x0A)
        return lines.last.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private func run(_ descriptor: Int32) {
        let reader = PipeReader(owning: descriptor, capacity: 4096)
        let bytes = (try? reader.readToEnd(limit: Self.sizeMax)) ?? []
        lock.withLock { text = bytes }
        reader.close()
        done.signal()
    }
}
