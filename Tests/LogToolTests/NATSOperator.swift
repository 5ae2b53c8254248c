import EventLog
import JSON
import TestSupport

@testable import Shipping

/// An operator with one account, whose users have credentials: signed tokens, as a nats-server checks them, with the rights of each.
struct NATSOperator {
    /// A key as NATS spells it: its kind, the bytes, and a CRC, in base32.
    private struct Key {
        enum Kind: UInt8 {
            case operatorKey = 112
            case account = 0
            case user = 160
        }

        let seed: [UInt8]
        let kind: Kind

        var name: String {
            get throws { Self.spelled([kind.rawValue] + (try Ed25519.publicKey(ofSeed: seed))) }
        }

        var spelledSeed: String {
            Self.spelled([144 | kind.rawValue >> 5, (kind.rawValue & 31) << 3] + seed)
        }

        private static func spelled(_ bytes: [UInt8]) -> String {
            var check: UInt16 = 0
            for byte in bytes {
                check ^= UInt16(byte) << 8
                for _ in 0..<8 { check = check & 0x8000 == 0 ? check << 1 : check << 1 ^ 0x1021 }
            }
            let all = bytes + [UInt8(truncatingIfNeeded: check), UInt8(check >> 8)]
            let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
            var (text, held, bits) = ("", 0, 0)
            for byte in all {
                (held, bits) = (held << 8 | Int(byte), bits + 8)
                while bits >= 5 {
                    bits -= 5
                    text.append(digits[held >> bits & 31])
                }
                held &= (1 << bits) - 1
            }
            if bits > 0 { text.append(digits[held << (5 - bits) & 31]) }
            return text
        }
    }

    private let root = Key(seed: [UInt8](repeating: 1, count: 32), kind: .operatorKey)
    private let account = Key(seed: [UInt8](repeating: 2, count: 32), kind: .account)
    /// JetStream needs one that speaks for the server.
    private let system = Key(seed: [UInt8](repeating: 3, count: 32), kind: .account)

    private static func base64(_ bytes: [UInt8]) -> String {
        Base64.encode(bytes).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func token(_ subject: Key, by issuer: Key, _ claims: String) throws -> String {
        let head = base64(Array(#"{"typ":"JWT","alg":"ed25519-nkey"}"#.utf8))
        let (name, other) = (try subject.name, try issuer.name)
        let body = base64(
            Array(
                #"{"jti":"\#(name)","iat":1700000000,"iss":"\#(other)","name":"n","sub":"\#(name)","nats":\#(claims)}"#
                    .utf8
            )
        )
        let text = "\(head).\(body)"
        return "\(text).\(base64(try Ed25519.signature(of: Array(text.utf8), seed: issuer.seed)))"
    }

    /// The lines of the server's file.
    var settings: String {
        get throws {
            let limits =
                #""subs":-1,"data":-1,"payload":-1,"imports":-1,"exports":-1,"wildcards":true,"conn":-1,"leaf":-1"#
            // The account that speaks for the server has no streams.
            let storage = #","mem_storage":-1,"disk_storage":-1,"streams":-1,"consumer":-1"#
            let accounts = try [(account, storage), (system, "")].map { key, more in
                let claims = #"{"limits":{\#(limits)\#(more)},"type":"account","version":2}"#
                return "\(try key.name): \"\(try Self.token(key, by: root, claims))\""
            }
            return """
                operator: "\(try Self.token(root, by: root, #"{"type":"operator","version":2}"#))"
                resolver: MEMORY
                system_account: \(try system.name)
                resolver_preload: { \(accounts.joined(separator: ", ")) }
                """
        }
    }

    /// The file of credentials of a user that may publish and subscribe to some subjects alone.
    func credentials(number: UInt8, publishing: [String], subscribing: [String]) throws -> String {
        let user = Key(seed: [UInt8](repeating: number, count: 32), kind: .user)
        func list(_ subjects: [String]) -> String { subjects.map { "\"\($0)\"" }.joined(separator: ",") }
        let rights = #""pub":{"allow":[\#(list(publishing))]},"sub":{"allow":[\#(list(subscribing))]}"#
        let claims = #"{\#(rights),"subs":-1,"data":-1,"payload":-1,"type":"user","version":2}"#
        return """
            -----BEGIN NATS USER JWT-----
            \(try Self.token(user, by: account, claims))
            ------END NATS USER JWT------

            -----BEGIN USER NKEY SEED-----
            \(user.spelledSeed)
            ------END USER NKEY SEED------

            """
    }
}
