import EventLog

#if canImport(CryptoKit)
import CryptoKit
import Foundation
#else
import CLibCrypto
#endif

/// Ed25519 (RFC 8032) by the system's library: OpenSSL's libcrypto, or CryptoKit. Keys have 32 bytes, signatures 64.
enum Ed25519 {
    #if canImport(CryptoKit)
    static func publicKey(ofSeed seed: [UInt8]) throws -> [UInt8] {
        Array(try Curve25519.Signing.PrivateKey(rawRepresentation: seed).publicKey.rawRepresentation)
    }

    static func signature(of text: [UInt8], seed: [UInt8]) throws -> [UInt8] {
        Array(try Curve25519.Signing.PrivateKey(rawRepresentation: seed).signature(for: Data(text)))
    }

    static func verifies(_ signature: [UInt8], of text: [UInt8], publicKey: [UInt8]) throws -> Bool {
        try Curve25519.Signing.PublicKey(rawRepresentation: publicKey)
            .isValidSignature(Data(signature), for: Data(text))
    }
    #else
    /// `EVP_PKEY_ED25519`, a macro that names another one.
    private static let type: Int32 = 1087

    static func publicKey(ofSeed seed: [UInt8]) throws -> [UInt8] {
        try withKey(EVP_PKEY_new_raw_private_key(type, nil, seed, seed.count)) { key in
            var (bytes, count) = ([UInt8](repeating: 0, count: 32), 32)
            try check(EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1 && count == 32)
            return bytes
        }
    }

    static func signature(of text: [UInt8], seed: [UInt8]) throws -> [UInt8] {
        try withKey(EVP_PKEY_new_raw_private_key(type, nil, seed, seed.count)) { key in
            try withContext { context in
                var (bytes, count) = ([UInt8](repeating: 0, count: 64), 64)
                try check(EVP_DigestSignInit(context, nil, nil, nil, key) == 1)
                try check(EVP_DigestSign(context, &bytes, &count, text, text.count) == 1 && count == 64)
                return bytes
            }
        }
    }

    static func verifies(_ signature: [UInt8], of text: [UInt8], publicKey: [UInt8]) throws -> Bool {
        try withKey(EVP_PKEY_new_raw_public_key(type, nil, publicKey, publicKey.count)) { key in
            try withContext { context in
                try check(EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1)
                return EVP_DigestVerify(context, signature, signature.count, text, text.count) == 1
            }
        }
    }

    private static func withKey<Result>(_ key: OpaquePointer?, _ body: (OpaquePointer) throws -> Result) throws
        -> Result
    {
        guard let key else { throw refusal }
        defer { EVP_PKEY_free(key) }
        return try body(key)
    }

    private static func withContext<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
        guard let context = EVP_MD_CTX_new() else { throw refusal }
        defer { EVP_MD_CTX_free(context) }
        return try body(context)
    }

    private static func check(_ isDone: Bool) throws {
        guard isDone else { throw refusal }
    }

    private static var refusal: EventLogError {
        EventLogError(.io, operation: "use an Ed25519 key", object: "", reason: "the system's library refuses it")
    }
    #endif
}
