import ArgumentParser
import EventLog
import JetStream
import Shipping

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a server is told, and how it is checked.
struct ServerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The environment variable that holds the server's token.", valueName: "variable"))
    var tokenEnv: String?

    @Option(
        help: ArgumentHelp("The file whose first line is the server's token.", valueName: "file"),
        completion: .file()
    )
    var tokenFile: String?

    @Option(
        help: ArgumentHelp("The file of credentials for a NATS server, as nsc writes it.", valueName: "file"),
        completion: .file()
    )
    var credentials: String?

    @Option(
        help: ArgumentHelp(
            "Certificates in PEM to check the server against, in place of the system's.",
            valueName: "file"
        ),
        completion: .file()
    )
    var caFile: String?

    func validate() throws {
        if [tokenEnv, tokenFile, credentials].count(where: { $0 != nil }) > 1 {
            throw ValidationError("give one of --token-env, --token-file and --credentials")
        }
    }

    /// Whether any is given.
    var isGiven: Bool { [tokenEnv, tokenFile, credentials, caFile].contains { $0 != nil } }

    /// A stream of a NATS server.
    ///
    /// - Throws: `EventLogError` for an address that cannot be used, and if no server answers; `Failure` in a build without NATS, and for a
    ///   token or credentials that cannot be read.
    func courier(at place: String, as end: CourierEnd, operation: String) throws -> any Courier {
        let address = try NATSAddress(place)
        #if NATS
        return try JetStreamCourier(at: address, security(), as: end)
        #else
        throw Failure(
            "\(operation) \(address.text): this program was built without NATS; install libnats-dev (brew: cnats), and build one that has it: "
                + "swift build -c release --product logtool --traits Recorders,NATS"
        )
        #endif
    }

    #if NATS
    private func security() throws -> NATSSecurity {
        var security = NATSSecurity()
        for file in [credentials, caFile] {
            if let file, !FileManager.default.isReadableFile(atPath: file) {
                throw Failure("read \"\(file)\": the file cannot be read")
            }
        }
        (security.credentials, security.trustFile) = (credentials, caFile)
        if let tokenEnv {
            security.token = try Self.token(ProcessInfo.processInfo.environment[tokenEnv] ?? "", of: tokenEnv)
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
