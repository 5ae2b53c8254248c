/// What went wrong while recording: while doing what, on what, why, and what to do next.
public struct IngestError: Error, Hashable, Sendable {
    /// What kind of trouble it is.
    public struct Code: Hashable, Sendable {
        /// A short name.
        public let name: String

        /// The `git` program is not on the search path.
        public static let gitMissing = Code(name: "gitMissing")
        /// There is no git repository at the path.
        public static let notARepository = Code(name: "notARepository")
        /// A part of the repository lies outside its folder.
        public static let leadsOutside = Code(name: "leadsOutside")
        /// The repository has no such branch, or the branch has no commit yet.
        public static let noSuchBranch = Code(name: "noSuchBranch")
        /// `git` failed, or an object of the repository is missing or broken.
        public static let brokenRepository = Code(name: "brokenRepository")
        /// A file is no capture, or a line of it is no capture line.
        public static let invalidCapture = Code(name: "invalidCapture")
        /// A file is no HAR, or an entry of it cannot be read.
        public static let invalidHAR = Code(name: "invalidHAR")
        /// A capture fits several kinds, or none.
        public static let unknownKind = Code(name: "unknownKind")
        /// A file cannot be read or a program cannot be started.
        public static let io = Code(name: "io")
        /// The remote refuses for good.
        public static let refused = Code(name: "refused")
        /// An argument is wrong.
        public static let invalidArgument = Code(name: "invalidArgument")
    }

    /// What kind of trouble it is.
    public let code: Code
    /// What was being done, such as `ingest capture`.
    public let operation: String
    /// What it was done to, such as a path.
    public let object: String
    /// What is wrong, with expected and found; never a token or the text of a message.
    public let reason: String
    /// What to do next; empty where there is nothing to do.
    public let advice: String

    /// Makes an error.
    public init(_ code: Code, operation: String, object: String, reason: String, advice: String = "") {
        self.code = code
        self.operation = operation
        self.object = object
        self.reason = reason
        self.advice = advice
    }
}

extension IngestError: CustomStringConvertible {
    /// The text that people and scripts read.
    public var description: String {
        let subject = object.isEmpty ? operation : "\(operation) \"\(object)\""
        return advice.isEmpty ? "\(subject): \(reason)" : "\(subject): \(reason); \(advice)"
    }
}
