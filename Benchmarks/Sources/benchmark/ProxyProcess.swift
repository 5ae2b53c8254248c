#if Recorders
import Foundation

/// A proxy at work, `logtool proxy` or another program that says its port as that does.
final class ProxyProcess {
    /// It did not do what it should.
    struct Failure: Error {}

    private let process = Process()
    let port: Int

    /// Returns once it listens.
    init(_ program: String, _ arguments: [String]) throws {
        let errors = Pipe()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardError = errors
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        var said = ""
        let start = "proxy at http://127.0.0.1:"
        while !said.contains(start) || !said.hasSuffix("\n") {
            let data = errors.fileHandleForReading.availableData
            if data.isEmpty { throw Failure() }
            said += String(decoding: data, as: UTF8.self)
        }
        guard let found = said.range(of: start), let port = Int(said[found.upperBound...].prefix { $0.isNumber }) else {
            throw Failure()
        }
        self.port = port
        // What it says later must not fill the pipe.
        errors.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
    }

    /// The processor time that it took so far; zero where the system does not say.
    var processorSeconds: Double {
        guard let text = try? String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8) else {
            return 0
        }
        // The name before may have spaces. The 14th and 15th fields of all are ticks of user and system time.
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// The memory that it has now, mapped pages of files included; zero where the system does not say.
    var megabytes: Double { Double(Memory.bytes(of: String(process.processIdentifier), "VmRSS:") ?? 0) / 1_000_000 }

    var anonymousMegabytes: Double {
        Double(Memory.anonymousBytes(of: String(process.processIdentifier)) ?? 0) / 1_000_000
    }

    func end() {
        process.interrupt()
        process.waitUntilExit()
    }

    /// Lets this process, and those that it starts, open so many files, as far as the system allows; how many that is.
    static func raiseFileLimit(to count: Int) -> Int {
        #if os(Linux)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 0 }
        limit.rlim_cur = max(limit.rlim_cur, rlim_t(count))
        // Only the superuser can raise what others are held to.
        var raised = rlimit(rlim_cur: limit.rlim_cur, rlim_max: max(limit.rlim_max, rlim_t(count)))
        if setrlimit(resource, &raised) != 0 {
            limit.rlim_cur = min(limit.rlim_cur, limit.rlim_max)
            setrlimit(resource, &limit)
        }
        getrlimit(resource, &limit)
        return Int(clamping: limit.rlim_cur)
    }
}
#endif
