import EventLog
import Projections

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The answers of a search, kept in a file (`OUT.shrink`) so that an interrupted search can go on.
///
/// A search is deterministic. One that begins again puts the same questions and finds them answered up to where it
/// stopped, so the file needs nothing but one line for each answer. A line that was cut off is ignored. A line that names
/// the log and the question stands before its answers; those to other questions stay in the file.
///
/// For one thread. The file is locked as long as the book lives.
final class AnswerBook {
    private static let format = "eventlog.shrink/1"

    /// By the candidate's identity.
    private var answers: [Hash256: Bool] = [:]
    /// The locked file; -1 for a book in memory.
    private let descriptor: Int32
    private let path: String?
    /// The line before the answers to this question.
    private let head: String
    /// The lines about other questions.
    private let others: [String]
    /// How many answers the file held when it was opened.
    let foundCount: Int

    /// Makes a book in memory only.
    init() {
        (descriptor, path, head, others, foundCount) = (-1, nil, "", [], 0)
    }

    /// Opens or makes a file. Nothing is synced: the next search finds answers again that a power cut has lost.
    ///
    /// - Parameter question: What the answers are about.
    /// - Throws: `EngineError` with code `locked` if another search has it locked; with `trouble` if the path is not a
    ///   regular file with one name, because writing through another name would change somebody's file, or if it is no
    ///   file of answers.
    init(at path: String, about question: JSONValue) throws {
        self.path = path
        let name = "keep answers in \"\(path)\""
        descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw EngineError("\(name): \(DiskRoom.text(errno))") }
        var information = stat()
        guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG, information.st_nlink == 1
        else {
            close(descriptor)
            throw EngineError("\(name): it is no file of one name; remove it, or choose another -o")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw EngineError(
                "\(name): another logtool shrink writes there; wait for it, or choose another -o",
                code: .locked
            )
        }
        head = JSONValue.object(["format": .string(Self.format), "about": question]).text
        let lines = Self.lines(of: descriptor, size: Int(information.st_size))
        guard information.st_size == 0 || Self.isOwn(lines.first ?? "") else {
            close(descriptor)
            throw EngineError("\(name): it is a file of something else; remove it, or choose another -o")
        }
        let parts = Self.parts(of: lines, about: head)
        others = parts.others
        answers = Self.answers(in: parts.own)
        foundCount = answers.count
        // A line that was cut off must not run into the next.
        Self.put((lines.isEmpty ? "" : "\n") + head + "\n", to: descriptor)
    }

    /// The lines behind heads that are this one, and all lines about other questions with their heads.
    private static func parts(of lines: [String], about head: String) -> (own: [String], others: [String]) {
        var (own, others) = ([String](), [String]())
        var isOwn = false
        for line in lines {
            if line.hasPrefix("{") { isOwn = line == head }
            if !isOwn { others.append(line) } else if line != head { own.append(line) }
        }
        return (own, others)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// The known answer, if any.
    func answer(to question: Hash256) -> Bool? { answers[question] }

    /// Keeps an answer in memory and in the file.
    func note(_ answer: Bool, to question: Hash256) {
        answers[question] = answer
        if descriptor >= 0 { Self.put("\(question.hex) \(answer ? 1 : 0)\n", to: descriptor) }
    }

    /// Removes the answers to this question, and the file if there are no others.
    func remove() {
        guard let path else { return }
        if others.isEmpty {
            unlink(path)
        } else {
            ftruncate(descriptor, 0)
            Self.put(others.joined(separator: "\n") + "\n", to: descriptor)
        }
    }

    /// Appends a text. A failed write is ignored: an answer that is not kept only costs the next run time.
    private static func put(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    /// All lines of the file; empty if it cannot be read.
    private static func lines(of descriptor: Int32, size: Int) -> [String] {
        var bytes = [UInt8](repeating: 0, count: max(size, 0))
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// True if the first line of a file is that of a book, of this format or another; it may be cut off.
    private static func isOwn(_ line: String) -> Bool {
        let beginning = "{\"format\":\"eventlog.shrink/"
        return line.hasPrefix(beginning) || beginning.hasPrefix(line) && !line.isEmpty
    }

    /// The answers of well-formed lines; others are skipped.
    private static func answers(in lines: [String]) -> [Hash256: Bool] {
        var answers: [Hash256: Bool] = [:]
        for line in lines {
            let words = line.split(separator: " ")
            guard words.count == 2, let hash = hash(words[0]), words[1] == "0" || words[1] == "1" else { continue }
            answers[hash] = words[1] == "1"
        }
        return answers
    }

    private static func hash(_ hex: Substring) -> Hash256? {
        let digits = Array(hex.utf8).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 64, hex.utf8.count == 64 else { return nil }
        return Hash256(stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }
}
