import JSON

#if Recorders
/// The messages that a recorder sends on a gateway. They hold the token; the journal replaces it before it records them
/// (I14).
enum GatewayMessages {
    /// Operation 1; `nil` if no dispatch came yet.
    static func heartbeat(number: UInt64?) -> [UInt8] {
        message(1) { writer in
            writer.name("d")
            if let number { writer.number(number) } else { writer.null() }
        }
    }

    /// Operation 2. The `properties` are sent only with intents, which select Discord: there they are required.
    static func identify(token: String, options: GatewayOptions) -> [UInt8] {
        message(2) { writer in
            writer.name("d")
            writer.begin("{")
            writer.name("token")
            writer.string(token)
            if let intents = options.intents {
                writer.name("intents")
                writer.number(intents)
                writer.name("properties")
                writer.begin("{")
                for (name, value) in [
                    ("os" as StaticString, platform), ("browser", "eventlog"), ("device", "eventlog"),
                ] {
                    writer.name(name)
                    writer.string(value)
                }
                writer.end("}")
            }
            writer.end("}")
        }
    }

    /// Operation 6.
    static func resume(token: String, session: GatewaySession) -> [UInt8] {
        message(6) { writer in
            writer.name("d")
            writer.begin("{")
            writer.name("token")
            writer.string(token)
            writer.name("session_id")
            writer.string(session.id)
            writer.name("seq")
            writer.number(session.resumeNumber)
            writer.end("}")
        }
    }

    private static func message(_ operation: Int, _ data: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.begin("{")
        writer.name("op")
        writer.number(operation)
        data(&writer)
        writer.end("}")
        return writer.bytes
    }

    private static var platform: String {
        #if os(macOS)
        "macos"
        #else
        "linux"
        #endif
    }
}
#endif
