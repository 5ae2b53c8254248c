import ArgumentParser
import EventLog
import Projections

/// Decoder files that stand in for those in force, for one command. Nothing is written into the log, nor kept beside it.
struct DecoderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read the log by this decoder file, for this command; SOURCE=FILE where several sources may be meant.",
            valueName: "file"
        ),
        completion: .file()
    )
    var decoder: [String] = []

    /// Has the files stand in, in an opened log that nothing was read from. Tells on standard error of sources that nothing
    /// reads, unless `isQuiet`.
    ///
    /// - Returns: the same log.
    /// - Throws: `Failure` for a file that cannot be read, with exit code 1 if the log has no source for it; `EngineError` as
    ///   `Decoders.standIn`.
    func used(in store: EventStore, isQuiet: Bool) throws -> EventStore {
        for text in decoder {
            let (source, path) = try Self.split(text)
            let file = try DecoderArgument.file(path)
            try DecoderArgument.checkSamples(of: file)
            try Decoders.standIn(file, for: source ?? Self.only(in: store, for: path), in: store)
        }
        if !isQuiet { try store.read { try UnreadSources.tell(of: $0, at: store.path) } }
        return store
    }

    /// A file alone may have `=` in its path: then what stands before the first is no source's name, or a folder.
    private static func split(_ text: String) throws -> (source: SourceName?, path: String) {
        guard let mark = text.firstIndex(of: "="), !text[..<mark].contains("/"), !InputFile.isRegular(text) else {
            return (nil, text)
        }
        return (try SourceArgument.parse(String(text[..<mark])), String(text[text.index(after: mark)...]))
    }

    /// The one source of a log whose events a decoder file may read.
    private static func only(in store: EventStore, for path: String) throws -> SourceName {
        let sources = try store.read { session in
            try session.kindsBySource().filter { $0.value.contains(where: Decoders.mayRead) }.keys.sorted()
        }
        if let source = sources.first, sources.count == 1 { return source }
        if sources.isEmpty {
            throw Failure(
                "read the log by \"\(path)\": it has no event that a decoder file reads",
                exitCode: Outcome.no
            )
        }
        let names = sources.map(\.rawValue).joined(separator: ", ")
        throw Failure(
            "read the log by \"\(path)\": several sources may be meant (\(names)); write --decoder SOURCE=\(path)"
        )
    }
}

/// Decoder files as options.
enum DecoderArgument {
    /// Reads a decoder file.
    ///
    /// - Throws: `Failure` naming the file and the line.
    static func file(_ path: String) throws -> DecoderFile {
        let bytes = try InputFile.bytes(at: path, bytesMax: DecoderFile.bytesMax)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure("read decoder file \"\(path)\": it is not UTF-8")
        }
        do throws(DecoderFileError) {
            return try DecoderFile(text)
        } catch {
            throw Failure("read decoder file \"\(path)\": \(error); see docs/decoders.md")
        }
    }

    /// - Throws: `Failure` with exit code 1 for the first sample that gives other changes than the file says.
    static func checkSamples(of file: DecoderFile) throws {
        guard let fault = file.sampleFaults().first else { return }
        throw Failure(
            "set decoder \(file.name): the sample on line \(fault.line) gives \(fault.gives.canonicalText); see: logtool "
                + "decoder check FILE",
            exitCode: Outcome.no
        )
    }

    /// Puts a file in force; `nil`, without an act, if it is.
    ///
    /// - Throws: as `Decoders.set`.
    static func put(
        _ file: DecoderFile?,
        _ source: SourceName,
        in store: EventStore,
        isForced: Bool = false
    ) throws -> SequenceNumber? {
        let known = try store.read { try? Decoders(inForce: $0) }
        if let known, known.fault(of: source) == nil, known[source]?.hash == file?.hash { return nil }
        return try Decoders.set(file, for: source, in: store, at: SystemClock.now, isForced: isForced)
    }

    /// Reads a decoder file that a command is to put in force for a source once it has recorded something.
    ///
    /// - Throws: `Failure` for a file that cannot be read or whose samples are wrong; `EngineError` as `Decoders.checkDropped`,
    ///   before anything is recorded.
    static func file(_ path: String, for source: SourceName, of log: String) throws -> DecoderFile {
        let file = try file(path)
        try checkSamples(of: file)
        return try checked(file, for: source, of: log)
    }

    /// The same file, if a compaction of the log, which may be missing, does not exclude it.
    ///
    /// - Throws: `EngineError` as `Decoders.checkDropped`.
    static func checked(_ file: DecoderFile, for source: SourceName, of log: String) throws -> DecoderFile {
        do {
            try EventStore.open(at: log).read { try Decoders.checkDropped(file, for: source, in: $0) }
        } catch let error as EventLogError where error.code == .noLog {
            // A new log has dropped nothing.
        }
        return file
    }
}
