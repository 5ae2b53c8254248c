import EventLog
import JetStream
import Shipping

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A stream of a NATS server, and the places of what proves this program to it. Files are read when a connection is made.
struct StreamAccess: Hashable, Sendable {
    /// The server's address (`NATSAddress`).
    let place: String
    /// The variable or file that holds the token.
    var tokenEnvironment: String?
    var tokenFile: String?
    /// The file of a user's credentials.
    var credentials: String?
    /// Certificates to check the server against; `nil` for the system's.
    var trustFile: String?

    /// Connects.
    ///
    /// - Throws: `EventLogError` for an address that cannot be used, and if no server answers; `Failure` in a build without NATS, and for a
    ///   token or credentials that cannot be read.
    func courier(as end: CourierEnd, operation: String) throws -> any Courier {
        let address = try NATSAddress(place)
        #if NATS
        return try JetStreamCourier(at: address, security(), as: end)
        #else
        throw Self.withoutNATS("\(operation) \(address.text)")
        #endif
    }

    /// The error of a build without NATS.
    static func withoutNATS(_ operation: String) -> Failure {
        Failure(
            "\(operation): this program was built without NATS; install libnats-dev (brew: cnats), and build one that has it: "
                + "swift build -c release --product logtool --traits Recorders,NATS"
        )
    }

    #if NATS
    private func security() throws -> NATSSecurity {
        var security = NATSSecurity()
        for file in [credentials, trustFile] {
            if let file, !FileManager.default.isReadableFile(atPath: file) {
                throw Failure("read \"\(file)\": the file cannot be read")
            }
        }
        (security.credentials, security.trustFile) = (credentials, trustFile)
        if let name = tokenEnvironment {
            security.token = try Self.token(ProcessInfo.processInfo.environment[name] ?? "", of: name)
        }
        if let tokenFile {
            guard let data = FileManager.default.contents(atPath: tokenFile) else {
                throw Failure("read token \"\(tokenFile)\": the file cannot be read")
            }
            security.token = try Self.token(
                String(decoding: data.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self),
                of: tokenFile
            )
        }
        return security
    }

    /// The token in a text, which the error does not repeat.
    private static func token(_ text: String, of origin: String) throws -> String {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 1, let token = words.first, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Failure("read token \"\(origin)\": it is empty, or holds something other than visible ASCII")
        }
        return String(token)
    }
    #endif
}
