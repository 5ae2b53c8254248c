/// Counts the frames of a capture that do not fit the kind that the user gave. All are recorded whatever the count: the
/// user knows better than a guess.
struct CaptureFit {
    let kind: CaptureKind
    private var frames = 0
    private var misfits = 0
    /// The number of the line with the first misfit, from 1.
    private var firstMisfit = 0
    /// The misfits that look like another kind, by that kind.
    private var others: [CaptureKind: Int] = [:]
    /// True until a connection's first frame, which decides whether all of it can be a stream.
    private var isFirstOfConnection = true
    /// True if the current connection's first frame looks like no other kind.
    private var isStream = true

    init(kind: CaptureKind) {
        self.kind = kind
    }

    /// Counts a line; lines must come in the capture's order.
    mutating func look(at line: CaptureLine, number: Int) {
        switch line.content {
        case .link: isFirstOfConnection = true
        case .file, .answer, .observed: break
        case .frame(_, let bytes):
            let found = bytes.withUnsafeBufferPointer(CaptureKindGuess.kind(ofFrame:))
            if isFirstOfConnection { isStream = found == nil }
            isFirstOfConnection = false
            frames += 1
            guard !fits(found) else { return }
            misfits += 1
            if misfits == 1 { firstMisfit = number }
            if let found { others[found, default: 0] += 1 }
        }
    }

    /// True if a frame that looks like `found` can be of the given kind. Some item lists look like no kind, and the
    /// pieces of a stream are cut anywhere.
    private func fits(_ found: CaptureKind?) -> Bool {
        switch kind.sign {
        case .members: found == kind
        case .someMembers: found == nil || found == kind
        case .stream: isStream
        case .nothing: true
        }
    }

    /// The warning for people; `nil` if every frame fits.
    func doubt(_ name: String) -> String? {
        guard misfits > 0 else { return nil }
        // Of equal counts the first in the alphabet wins, so that the message is the same in every run.
        let better = others.max { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }
        let advice = better.map { "; \($0.value) look like --kind \($0.key.rawValue)" } ?? ""
        return "\(name): --kind \(kind.rawValue) cannot read \(misfits) of \(frames) frames, the first on line "
            + "\(firstMisfit)\(advice); all are recorded"
    }
}
