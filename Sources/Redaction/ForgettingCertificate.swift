public import EventLog
import JSON
public import Projections

/// The document with which forgetting a person ends: which acts did it, what was searched afterwards and found, and what is left to
/// do. `docs/cli-json.md` describes it.
///
/// The acts are proved by the log's tree. What was searched is what this program says: no log can prove it, because the texts are
/// gone.
public struct ForgettingCertificate {
    /// The value of the member `format`.
    public static let format = "eventlog.certificate/1"

    /// What no rewrite of a log reaches.
    public static let beyondReach = [
        "backups", "exports", "shipped copies of the log", "archives elsewhere", "caches and databases elsewhere",
        "snapshots and freed blocks of the file system", "keys, paths and checksums that the remote made",
        "what others wrote about the person", "what the remote holds and may send again",
    ]

    /// The document.
    public let json: JSONObject

    /// Makes the certificate of what was done. Without acts, after a dry run, it proves nothing and says so.
    ///
    /// - Throws: `EventLogError` if the log cannot be read.
    public init(of result: ForgettingResult, in session: borrowing ReadSession) throws {
        let size = session.head.rawValue
        let acts = try result.redaction.acts.map { act in
            try JSONValue.parse(try InclusionProof(of: act, size: size, in: session).json)
        }
        json = [
            "format": .string(Self.format), "log": .string(Base64.encode(try session.identity())),
            "forgotten": .array(result.pseudonyms.map { .string($0) }), "by": .string(result.by),
            "why": .text(result.why),
            "at": .string(result.at.description), "events": .int(result.redaction.events.count),
            "messages": .int(result.messageCount), "texts": .int(result.redaction.texts),
            "complete": .bool(result.isComplete), "scan": result.scan.map { .object(Self.json($0)) } ?? .null,
            "held": .object([
                "events": .array(result.redaction.held.map { .string($0.description) }),
                "parts": .array(result.heldParts.map(Self.json)), "facts": .bool(result.areFactsHeld),
            ]), "others": .int(result.otherEventCount), "archives": .array(result.archives.map { .string($0) }),
            "beyondReach": .array(Self.beyondReach.map { .string($0) }), "acts": .array(acts),
        ]
    }

    private static func json(_ scan: ForgettingScan) -> JSONObject {
        [
            "events": .int(scan.eventCount), "sealed": .int(scan.sealedCount), "files": .int(scan.fileCount),
            "bytes": .int(scan.byteCount),
            "blocks": .int(scan.blockCount), "blockBytes": .int(scan.blockByteCount),
            "forms": .array(scan.forms.map { .string($0) }), "searched": .int(scan.searchedCount),
            "unsearched": .int(scan.unsearchedCount), "shared": .int(scan.sharedCount),
            "hits": .array(scan.hits.map(json)), "fileHits": .int(scan.fileHitCount), "others": .int(scan.otherCount),
            "archiveHits": .array(
                scan.archiveHits.map { .object(["path": .string($0.path), "hits": .int($0.count)]) }
            ),
        ]
    }

    private static func json(_ hit: RedactionScan.Hit) -> JSONValue {
        .object(["sequence": .string(hit.sequence.description), "part": .string(hit.part)])
    }
}

/// The result of checking a certificate, with or without the log.
public struct CertificateCheck {
    /// Why it does not hold; `nil` if it does.
    public private(set) var fault: String?
    /// What it shows, as a sentence; empty where it does not hold.
    public private(set) var claim = ""
    /// Whether it says that nothing is left in the log.
    public private(set) var isComplete = false
    /// Whether a scan ran.
    public private(set) var isScanned = false
    private let document: JSONObject

    /// Reads a certificate and checks it; `nil` if the bytes are none.
    public init?(_ bytes: [UInt8]) {
        guard let document = try? JSONValue.parse(bytes, allowsRepeatedNames: false).object,
            document["format"]?.string == ForgettingCertificate.format
        else { return nil }
        self.document = document
        do throws(CertificateFault) { try check() } catch { fault = error.reason }
    }

    /// Also checks that a log has the acts: it is the log of the certificate, and has the root.
    ///
    /// - Throws: `EventLogError` if the log cannot be read.
    public mutating func check(against session: borrowing ReadSession) throws {
        guard fault == nil else { return }
        guard document["log"]?.string == Base64.encode(try session.identity()) else {
            fault = "it is of another log"
            return
        }
        for proof in try inclusions() {
            let isThere = try proof.size <= session.head.rawValue && session.root(size: proof.size) == proof.root
            guard isThere, try session.event(at: proof.sequence)?.payload == proof.event?.payload else {
                fault = "the log does not have the act at \(proof.sequence)"
                return
            }
        }
        claim += "; the log has the act"
    }

    private func inclusions() throws(CertificateFault) -> [InclusionProof] {
        guard let acts = document["acts"]?.array else { throw CertificateFault("it has no acts") }
        var proofs: [InclusionProof] = []
        for act in acts {
            guard let check = try? ProofCheck(act.canonicalBytes), let proof = check.inclusion else {
                throw CertificateFault(proofs.isEmpty ? "its act is no proof" : "one of its acts is no proof")
            }
            guard check.holds(forEnvelope: false) else { throw CertificateFault("its act: \(check.reason)") }
            proofs.append(proof)
        }
        return proofs
    }

    private mutating func check() throws(CertificateFault) {
        let names = Set(document.members.map(\.name))
        guard names.isSubset(of: Self.members) else {
            throw CertificateFault("it has members that forget does not write")
        }
        let proofs = try inclusions()
        guard let first = proofs.first, let last = proofs.last else {
            throw CertificateFault("it has no act: it is that of a dry run")
        }
        var redacted = 0
        for proof in proofs {
            guard proof.size == first.size, proof.root == first.root else {
                throw CertificateFault("its acts are proved under different roots")
            }
            redacted += try count(of: proof)
        }
        guard let events = document["events"]?.number?.int64, events >= 0, events <= redacted else {
            throw CertificateFault("it counts more events than its acts name")
        }
        try checkScan()
        let people = (document["forgotten"]?.array ?? []).compactMap(\.string).joined(separator: ", ")
        let by = document["by"]?.string ?? ""
        let words = !isScanned ? "nothing was searched" : isComplete ? "the search found nothing" : "something is left"
        claim =
            "the act at \(last.sequence) by \(by) forgot \(people) in \(events) events of the log of \(first.size) events with "
            + "the root \(first.root); as logtool reported, \(words)"
    }

    private static let members: Set = [
        "format", "log", "forgotten", "by", "why", "at", "events", "messages", "texts", "complete", "scan", "held",
        "others",
        "archives", "beyondReach", "acts",
    ]

    /// How many events an act names.
    private func count(of proof: InclusionProof) throws(CertificateFault) -> Int {
        guard let event = proof.event, event.envelope.source == .logtool, event.envelope.kind == Redactions.actKind,
            let act = try? JSONValue.parse(event.payload)
        else { throw CertificateFault("its act is none of a redaction") }
        for name in ["by", "why", "forgotten"] where act[name] != document[name] {
            throw CertificateFault("its act says otherwise: \(name)")
        }
        guard document["at"]?.string == event.envelope.recordedAt.description else {
            throw CertificateFault("its act says otherwise: at")
        }
        return act["redacted"]?.array?.count ?? 0
    }

    /// Checks that `complete` follows from what was searched and what stays.
    private mutating func checkScan() throws(CertificateFault) {
        guard let complete = document["complete"]?.bool, let scan = document["scan"], let held = document["held"] else {
            throw CertificateFault("it does not say what was searched")
        }
        (isScanned, isComplete) = (!scan.isNull, complete)
        func isEmpty(_ value: JSONValue?) -> Bool { value?.array?.isEmpty == true }
        let isClear =
            isEmpty(scan["hits"]) && isEmpty(scan["archiveHits"]) && scan["fileHits"]?.number?.int64 == 0
            && (scan["events"]?.number?.int64 ?? 0) > 0 && (scan["files"]?.number?.int64 ?? 0) > 0
            && isEmpty(held["events"]) && isEmpty(held["parts"]) && held["facts"]?.bool == false
        guard complete == (isScanned && isClear) else {
            throw CertificateFault(
                isScanned
                    ? "\"complete\" does not follow from what was found"
                    : "it says that it is complete, and no scan ran"
            )
        }
    }
}

/// Why a certificate does not hold.
private struct CertificateFault: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
