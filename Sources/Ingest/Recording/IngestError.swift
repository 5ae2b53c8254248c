/// An error of recording: the operation, its object, the reason, and advice.
public struct IngestError: Error, Hashable, Sendable {
    /// The kind of error.
    public struct Code: Hashable, Sendable {
        /// A short name.
        public let name: String

        /// The `git` program is not on the search path.
        public static let gitMissing = Code(name: "gitMissing")
        /// The path holds no git repository that can be read.
        public static let notARepository = Code(name: "notARepository")
        /// A part of the repository lies outside its folder.
        public static let leadsOutside = Code(name: "leadsOutside")
        /// The repository has no such branch, or the branch has no commit yet.
        public static let noSuchBranch = Code(name: "noSuchBranch")
        /// `git` failed, or an object of the repository is missing or broken.
        public static let brokenRepository = Code(name: "brokenRepository")
        /// A file is not a capture, or one of its lines is not a capture line.
        public static let invalidCapture = Code(name: "invalidCapture")
        /// A file is not a HAR, or one of its entries cannot be read.
        public static let invalidHAR = Code(name: "invalidHAR")
        /// A capture fits several kinds, or none.
        public static let unknownKind = Code(name: "unknownKind")
        /// A file has nothing of the kind that was asked for.
        public static let nothingFits = Code(name: "nothingFits")
        /// A file cannot be read or a program cannot be started.
        public static let io = Code(name: "io")
        /// The remote refuses, and trying again would not help.
        public static let refused = Code(name: "refused")
        /// An argument is wrong.
        public static let invalidArgument = Code(name: "invalidArgument")
    }

    /// The kind of error.
    public let code: Code
    /// The operation that failed, such as `ingest capture`.
    public let operation: String
    /// The operation's object, such as a path; may be empty.
    public let object: String
    /// What is wrong, with expected and found; never a token or the text of a message (I14).
    public let reason: String
    /// What to do next; empty if nothing helps.
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
