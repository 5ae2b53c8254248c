#if Recorders
import Foundation
import NIOSSL
import TestSupport

/// A self-signed certificate for 127.0.0.1 and localhost, made by openssl for one test.
struct LoopbackCertificate {
    let certificatePath: String
    let keyPath: String

    /// True if there is an openssl program.
    static let isAvailable = (try? openssl(["version"])) == 0

    /// Makes one.
    init(in directory: String) throws {
        certificatePath = "\(directory)/certificate.pem"
        keyPath = "\(directory)/key.pem"
        let arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-keyout", keyPath, "-out", certificatePath,
        ]
        guard try Self.openssl(arguments) == 0 else { throw CocoaError(.fileNoSuchFile) }
    }

    /// Runs openssl, and returns how it ended.
    private static func openssl(_ arguments: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// What a server shows.
    var serverContext: NIOSSLContext {
        get throws {
            let chain = try NIOSSLCertificate.fromPEMFile(certificatePath).map {
                NIOSSLCertificateSource.certificate($0)
            }
            let key = try NIOSSLPrivateKey(file: keyPath, format: .pem)
            return try NIOSSLContext(
                configuration: .makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(key))
            )
        }
    }
}
#endif
