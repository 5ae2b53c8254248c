import EventLog
import TestSupport
import Testing

@testable import Ingest

@Suite struct SecretsTests {
    struct Example: CustomTestStringConvertible, Sendable {
        let kind: EventKind
        let frame: String
        let redacted: String
        let count: Int
        var testDescription: String { frame }

        init(_ kind: EventKind, _ frame: String, _ redacted: String, _ count: Int = 1) {
            (self.kind, self.frame, self.redacted, self.count) = (kind, frame, redacted, count)
        }
    }

    static let webToken = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl_-"

    static let examples = plain + named + nested + written

    private static let plain = [
        Example(.gatewayFrame, #"{"op":2,"d":{"token":"s3"}}"#, #"{"op":2,"d":{"token":"[redacted]"}}"#),
        Example(
            .gatewayFrame,
            #"{ "d" : {"token" : "s3" , "x":1}, "op" : 2 }"#,
            #"{ "d" : {"token" : "[redacted]" , "x":1}, "op" : 2 }"#
        ),
        Example(
            .gatewayFrame,
            #"{"op":6,"d":{"token":"s\"3","session_id":"u","seq":41}}"#,
            #"{"op":6,"d":{"token":"[redacted]","session_id":"u","seq":41}}"#
        ),
        Example(.gatewayFrame, #"{"op":2,"d":{"tok\u0065n":"s3"}}"#, #"{"op":2,"d":{"tok\u0065n":"[redacted]"}}"#),
        Example(.gatewayFrame, #"{"\u006fp":2,"d":{"Token":"s3"}}"#, #"{"\u006fp":2,"d":{"Token":"[redacted]"}}"#),
        Example(.gatewayFrame, #"{"op":2.0,"d":{"token":"s3"}}"#, #"{"op":2.0,"d":{"token":"[redacted]"}}"#),
        Example(.gatewayFrame, #"{"op":1,"op":2,"d":{"token":"s3"}}"#, #"{"op":1,"op":2,"d":{"token":"[redacted]"}}"#),
        Example(.gatewayFrame, #"{"op":"","d":{"token":"s3"}}"#, #"{"op":"","d":{"token":"[redacted]"}}"#),
        Example(.gatewayFrame, #"{"op":2,"d":{"token":17}}"#, #"{"op":2,"d":{"token":"[redacted]"}}"#),
        Example(
            .gatewayFrame,
            #"{"op":2,"d":{"token":["a",{"b":"c"}]}}"#,
            #"{"op":2,"d":{"token":["[redacted]",{"b":"[redacted]"}]}}"#,
            2
        ),
        Example(.gatewayFrame, #"{"d":{"token":"s3"}}"#, #"{"d":{"token":"[redacted]"}}"#),
        Example(.gatewayFrame, #"{"op":2,"d":{"token":"s3"#, #"{"op":2,"d":{"token":"[redacted]"#),
        Example(.gatewayFrame, #"{op:2,d:{token:"s3"}}"#, #"{op:2,d:{token:"[redacted]"}}"#),
        Example(.gatewayFrame, #"{"a":"b" c","token":"s3"}"#, #"{"a":"b" c","token":"[redacted]"}"#),
        Example(.gatewayFrame, #"{"op":2,"d":{"t\u006Fken":"s3""#, #"{"op":2,"d":{"t\u006Fken":"[redacted]""#),
        Example(
            .realtimeFrame,
            #"{"topic":"t","event":"phx_join","payload":{"access_token":"s3"},"ref":"1"}"#,
            #"{"topic":"t","event":"phx_join","payload":{"access_token":"[redacted]"},"ref":"1"}"#
        ),
        Example(
            .realtimeFrame,
            #"["3","3","t","access_token",{"access_token":"s3"}]"#,
            #"["3","3","t","access_token",{"access_token":"[redacted]"}]"#
        ),
        Example(
            .realtimeFrame,
            #"{"url":"wss:\/\/p\/websocket?apikey=k1&vsn=1.0.0"}"#,
            #"{"url":"wss:\/\/p\/websocket?apikey=[redacted]&vsn=1.0.0"}"#
        ),
        Example(
            .itemsMessage,
            #"{"u":"https://x/y?a=1\u0026ckWebAuthToken=a%2Bb%3D\u0026ckAPIToken=77#f"}"#,
            #"{"u":"https://x/y?a=1\u0026ckWebAuthToken=[redacted]\u0026ckAPIToken=[redacted]#f"}"#,
            2
        ),
        Example(
            .itemsMessage,
            #"["see (https://x/?t%6Fken=s3) now"]"#,
            #"["see (https://x/?t%6Fken=[redacted]) now"]"#
        ),
        Example(
            .gatewayFrame,
            #"{"op":0,"d":{"headers":{"Authorization":"Bearer s3"}}}"#,
            #"{"op":0,"d":{"headers":{"Authorization":"[redacted]"}}}"#
        ),
        Example(
            .gatewayFrame,
            #"{"h":[["authorization","Bearer s3"],["accept","x"]]}"#,
            #"{"h":[["authorization","[redacted]"],["accept","x"]]}"#
        ),
        Example(
            .itemsMessage,
            #"["GET /\r\nAuthorization: Bearer s3\r\nHost: h"]"#,
            #"["GET /\r\nAuthorization: Bearer [redacted]\r\nHost: h"]"#
        ),
        Example(.realtimeFrame, #"{"api-_key":"s3","author_id":"7"}"#, #"{"api-_key":"[redacted]","author_id":"7"}"#),
        Example(
            .itemsMessage,
            #"{"author_name":"Ada","proxy_author-ization":"Basic s3"}"#,
            #"{"author_name":"Ada","proxy_author-ization":"[redacted]"}"#
        ),
        Example(.realtimeFrame, #"{"id_token":"\#(webToken)"}"#, #"{"id_token":"[redacted]"}"#),
        Example(
            .serverSentEvent,
            "id: 1\ndata: {\"access_token\":\"s3\"}\n\n",
            "id: 1\ndata: {\"access_token\":\"[redacted]\"}\n\n"
        ),
        Example(
            .statusFile,
            "{\"message\":\"a\nb\",\"access_token\":\"s3\"}",
            "{\"message\":\"a\nb\",\"access_token\":\"[redacted]\"}"
        ),
    ]

    /// Names, and the ways in which they are spelled.
    private static let names = [
        "x-api-key", "X-Api-Key", "x.api.key", "client_secret", "clientSecret", "Client Secret", "password", "Password",
        "passwd", "cookie", "Set-Cookie", "setCookie", "refresh_token", "refresh.token", "refreshToken", "api key",
        "accessToken", "access token", "webAuthToken", "secret_access_key", "X-Auth-Token", "pass\\u0077ord",
    ]
    private static let named =
        names.map { name in
            Example(.realtimeFrame, #"{"a":1,"\#(name)":"s3","b":"c"}"#, #"{"a":1,"\#(name)":"[redacted]","b":"c"}"#)
        } + pairs
    private static let pairs = [
        Example(
            .gatewayFrame,
            #"{"headers":[{"name":"X-Api-Key","value":"s3"},{"name":"Accept","value":"x"}]}"#,
            #"{"headers":[{"name":"X-Api-Key","value":"[redacted]"},{"name":"Accept","value":"x"}]}"#
        ),
        Example(
            .gatewayFrame,
            #"{"h":[{"value":"a=s3","x":1,"key":"Cookie"}],"value":"kept"}"#,
            #"{"h":[{"value":"[redacted]","x":1,"key":"Cookie"}],"value":"kept"}"#
        ),
        Example(
            .gatewayFrame,
            #"{"key":"password","value":17}"#,
            #"{"key":"password","value":"[redacted]"}"#
        ),
        Example(.itemsMessage, #"{"anything":"\#(webToken)"}"#, #"{"anything":"[redacted]"}"#),
        Example(.itemsMessage, #"["see \#(webToken)."]"#, #"["see [redacted]."]"#),
    ]

    /// JSON in a string of JSON.
    private static let nested = [
        Example(
            .realtimeFrame,
            #"{"body":"{\"access_token\":\"s3\",\"a\":[1]}"}"#,
            #"{"body":"{\"access_token\":\"[redacted]\",\"a\":[1]}"}"#
        ),
        Example(
            .realtimeFrame,
            #"{"body":"{\"a\":\"{\\\"password\\\":17}\"}"}"#,
            #"{"body":"{\"a\":\"{\\\"password\\\":\\\"[redacted]\\\"}\"}"}"#
        ),
        Example(
            .serverSentEvent,
            "data: {\"b\":\"{\\\"client_secret\\\":\\\"s\\\\\\\"3\\\"}\"}\n\n",
            "data: {\"b\":\"{\\\"client_secret\\\":\\\"[redacted]\\\"}\"}\n\n"
        ),
        Example(
            .realtimeFrame,
            #"{"body":"{\"password\":\"s3\", cut"}"#,
            #"{"body":"{\"password\":\"[redacted]\", cut"}"#
        ),
    ]

    /// What is a secret within a text.
    private static let written = [
        Example(.itemsMessage, #"["https://ada:s3cret@h/x?y=1"]"#, #"["https://[redacted]@h/x?y=1"]"#),
        Example(.itemsMessage, #"["postgres:\/\/ada:s3@h\/db"]"#, #"["postgres:\/\/[redacted]@h\/db"]"#),
        Example(
            .itemsMessage,
            #"["https://b/o?X-Amz-Date=1&X-Amz-Signature=ab12&x=1"]"#,
            #"["https://b/o?X-Amz-Date=1&X-Amz-Signature=[redacted]&x=1"]"#
        ),
        Example(.itemsMessage, #"["https://b/o?sv=1&sig=a%2Bb%3D"]"#, #"["https://b/o?sv=1&sig=[redacted]"]"#),
        Example(
            .itemsMessage,
            #"["https://b/o?X-Goog-Signature=ab&Signature=cd"]"#,
            #"["https://b/o?X-Goog-Signature=[redacted]&Signature=[redacted]"]"#,
            2
        ),
        Example(
            .itemsMessage,
            #"["GET /\r\nX-Api-Key: s3\r\nCookie: sid=s3; a=b\r\nHost: h"]"#,
            #"["GET /\r\nX-Api-Key: [redacted]\r\nCookie: [redacted]\r\nHost: h"]"#,
            2
        ),
    ]

    @Test(arguments: examples)
    func aSecretIsReplacedInPlace(_ example: Example) {
        let redaction = Secrets.redact(Array(example.frame.utf8), kind: example.kind)
        #expect(String(decoding: redaction.bytes, as: UTF8.self) == example.redacted)
        #expect(redaction.count == example.count)
        let again = Secrets.redact(redaction.bytes, kind: example.kind)
        #expect(again == Secrets.Redaction(bytes: redaction.bytes, count: 0))
    }

    @Test(arguments: [
        #"{"op":0,"d":{"content":"my token is fine, authorization: see below","token":"invite"},"s":7,"t":"X"}"#,
        #"{"op":2,"d":{"token":""}}"#,
        #"{"op":2,"d":{"token":null}}"#,
        #"{"op":2,"d":{"token":"[redacted]"}}"#,
        #"{"op":0,"d":{"content":"a=b token=c tokens: 3 \ud83d\ude00 %25"}}"#,
        #"{"topic":"t","event":"access_token","payload":{}}"#,
        #"not json at all: token"#,
        #"{"op":0,"d":{"content":"the password: is it a secret? ask ada@example.org, cookie: yes please"},"s":7}"#,
        #"{"d":{"content":"password: hunter2\nCookie: one for you\nSecret santa = tomorrow"}}"#,
        #"{"key":"abc","signature":"s","sig":"s","secret":"santa","passwords":3,"cookies":["oat"],"token_type":"b"}"#,
        #"{"d":[{"name":"colour","value":"blue"},{"key":"k","value":"v"}],"jwt":"none"}"#,
        #"{"content":"[not json] {either} \"password\" eyJ eyJh.b.c https://h/@ada mail@h"}"#,
        #"{"password":null,"cookie":true,"client_secret":{}}"#,
        #"{"a":"https://h/x?signed=1&design=2&config=3"}"#,
        "\u{0}\u{1}",
        "",
    ])
    func whatIsNoSecretStaysAsItIs(_ frame: String) {
        let bytes = Array(frame.utf8)
        #expect(Secrets.redact(bytes, kind: .gatewayFrame) == Secrets.Redaction(bytes: bytes, count: 0))
    }

    /// A reader of the stream joins the `data` lines of an event.
    @Test(arguments: [
        ("data: {\"access_token\":\ndata: \"s3cret\"}\n\n", "data: {\"access_token\":\ndata: \"[redacted]\"}\n\n", 1),
        (
            "id: 1\r\ndata:{\"a\":1,\r\nevent: x\r\ndata: \"apikey\"\r\ndata::\"s3cret\"\r\ndata:}\r\n\r\n",
            "id: 1\r\ndata:{\"a\":1,\r\nevent: x\r\ndata: \"apikey\"\r\ndata::\"[redacted]\"\r\ndata:}\r\n\r\n", 1
        ),
        (
            "data: {\"access_token\":\"s3c\ndata:ret\",\"x\":\"y\"}\n\n",
            "data: {\"access_token\":\"[redacted]\ndata:[redacted]\",\"x\":\"y\"}\n\n", 2
        ),
        ("data: Authorization: Bearer\ndata: s3cret\n\n", "data: Authorization: [redacted]\ndata: [redacted]\n\n", 2),
        (
            "\u{FEFF}data: {\"apikey\":\ndata: \"s3cret\"}\n\n",
            "\u{FEFF}data: {\"apikey\":\ndata: \"[redacted]\"}\n\n", 1
        ),
        (
            "data: {\"title\":\"authorization: none\"}\n\ndata: {\"title\":\"x\"}\n\n",
            "data: {\"title\":\"authorization: none\"}\n\ndata: {\"title\":\"x\"}\n\n", 0
        ),
    ])
    func aSecretIsFoundAcrossTheDataLinesOfAnEvent(_ event: String, redacted: String, count: Int) {
        let redaction = Secrets.redact(Array(event.utf8), kind: .serverSentEvent)
        #expect(String(decoding: redaction.bytes, as: UTF8.self) == redacted)
        #expect(redaction.count == count)
    }

    @Test func aTokenNeverSurvivesACutFrame() {
        let secret = "SECRETSECRET"
        for example in [
            #"{"op":2,"d":{"properties":{"os":"x"},"token":"SECRETSECRET"}}"#,
            #"{"topic":"t","event":"phx_join","payload":{"access_token":"SECRETSECRET"},"ref":"1"}"#,
            #"{"op":6,"d":{"tok\u0065n":"SECRETSECRET","seq":1}}"#,
        ] {
            let bytes = Array(example.utf8)
            for length in 0...bytes.count {
                let kind: EventKind = example.hasPrefix(#"{"op"#) ? .gatewayFrame : .realtimeFrame
                let redaction = Secrets.redact(Array(bytes[..<length]), kind: kind)
                let text = String(decoding: redaction.bytes, as: UTF8.self)
                #expect(!text.contains(secret.prefix(4)), "\(text)")
            }
        }
    }

    @Test(arguments: [
        "token", "T_o-k__EN", "ApiKey", "api_key", "authorization", "AUTHORI-ZATION", "jwt", "%6B", "\\u006b",
        "client_secret", "ClientSecret", "Cookie", "eyJ", "sig=", "Signature=",
    ])
    func aNameIsSeenWhereverItStands(_ name: String) {
        for offset in 0..<20 {
            for rest in 0..<10 {
                let start = String(repeating: "k", count: offset)
                let found = Array((start + name + String(repeating: "n", count: rest)).utf8)
                #expect(found.withUnsafeBufferPointer { SecretName.mayOccur(in: $0) }, "\(offset) \(rest)")
                let cut = Array((start + name.dropLast() + " " + String(repeating: "n", count: rest)).utf8)
                #expect(!cut.withUnsafeBufferPointer { SecretName.mayOccur(in: $0) }, "\(offset) \(rest)")
            }
        }
    }

    /// The quick look ends most searches; a full one, which a user's rule asks for, must then find nothing.
    @Test func whatTheQuickLookPassesOverHasNoSecret() throws {
        var generator = SeededGenerator(seed: 20_261_130)
        let asked = SecretRules(own: try RedactionRules(["/none"]), hasCommon: true)
        let letters = Array("token apikey jwt password authorization cookie secret access sig".utf8)
        let others = [
            "\\u00e9", "%C3%A9", "\\ud83d\\ude00", "100 %", "{", "}", "[", "]", "\"", "\":\"", "\",\"", ":", ",", "=",
            "?", "&",
            "://", "@", "\\\"", "\\\\u", "é", "\\u2007", "eyJhbGciOiJIUzI1NiJ9.e30.eyJ9", "bearer s3cret-s3cret-s3cret",
        ]
        var passedOver = 0
        for round in 0..<2_500 {
            var frame = Array((round.isMultiple(of: 2) ? "{\"" : "").utf8)
            let hides = round.isMultiple(of: 5)
            for _ in 0..<Int.random(in: 1...12, using: &generator) {
                let start = Int.random(in: letters.indices, using: &generator)
                let end = min(letters.count, start + Int.random(in: 0...12, using: &generator))
                for letter in letters[start..<end] {
                    switch Int.random(in: 0..<12, using: &generator) {
                    case 0 where hides: frame += "\\u00\(String(letter, radix: 16))".utf8
                    case 1 where hides: frame += "%\(String(letter, radix: 16))".utf8
                    case 2: frame += "\\u0\(String(Int(letter) + 0x100, radix: 16))".utf8
                    default: frame.append(letter)
                    }
                }
                frame += others[Int.random(in: others.indices, using: &generator)].utf8
            }
            guard !frame.withUnsafeBufferPointer({ SecretName.mayOccur(in: $0) }) else { continue }
            passedOver += 1
            for kind in [EventKind.gatewayFrame, .itemsMessage, .serverSentEvent] {
                let full = Secrets.redact(frame, kind: kind, rules: asked)
                #expect(full.count == 0, "\(String(decoding: frame, as: UTF8.self))")
            }
        }
        #expect(passedOver > 500)
    }

    /// In a stream's plain text people write about passwords, too.
    @Test func aSentenceInAStreamStaysAsItIs() {
        let event = Array("data: my password: hunter2, cookie: none\n\n".utf8)
        #expect(Secrets.redact(event, kind: .serverSentEvent).count == 0)
    }

    /// Lengths come before texts in binary forms, so a substitute has the secret's length.
    @Test(arguments: [
        // Erlang's external term format: a map with binaries as keys, and one with atoms.
        ([131, 116, 0, 0, 0, 1, 109, 0, 0, 0, 5] + bytes("token") + [109, 0, 0, 0, 12], []),
        ([131, 116, 0, 0, 0, 1, 119, 5] + bytes("token") + [109, 0, 0, 0, 12], [97, 1]),
        ([131, 116, 0, 0, 0, 1, 100, 0, 12] + bytes("access_token") + [107, 0, 12], []),
        // MessagePack: fixstr, str 8 and bin 16.
        ([0x81, 0xA5] + bytes("token") + [0xAC], []),
        ([0x82, 0xA2] + bytes("op") + [2, 0xA8] + bytes("password") + [0xD9, 12], [0xC0]),
        ([0xDE, 0, 1, 0xD9, 13] + bytes("client_secret") + [0xC5, 0, 12], []),
    ])
    func aSecretInABinaryFormIsReplacedInItsLength(_ before: [UInt8], after: [UInt8]) {
        let redaction = Secrets.redact(before + Self.bytes("s3cret-s3cre") + after, kind: .gatewayFrame)
        #expect(redaction.bytes == before + Self.bytes("[redacted]**") + after)
        #expect(redaction.count == 1)
        #expect(Secrets.redact(redaction.bytes, kind: .gatewayFrame).count == 0)
    }

    @Test(arguments: [false, true], [false, true])
    func aSecretInUTF16IsReplacedInUTF16(isBigEndian: Bool, hasMark: Bool) {
        let wide = { (text: String) -> [UInt8] in
            let units = Array(((hasMark ? "\u{FEFF}" : "") + text).utf16)
            return units.flatMap {
                isBigEndian ? [UInt8($0 >> 8), UInt8($0 & 255)] : [UInt8($0 & 255), UInt8($0 >> 8)]
            }
        }
        let frame = wide(#"{"x":"é😀","access_token":"s3","password":17}"#)
        let redaction = Secrets.redact(frame, kind: .realtimeFrame)
        #expect(redaction.bytes == wide(#"{"x":"é😀","access_token":"[redacted]","password":"[redacted]"}"#))
        #expect(Secrets.redact(redaction.bytes, kind: .realtimeFrame).count == 0)
    }

    static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func nameInAWordThatIsRedactedHasItsOwnCredential() {
        let redaction = Secrets.redact(
            Array(#"["authorization:0123456789abcdef,authorization:0123456789authorization:bearer s3"]"#.utf8),
            kind: .itemsMessage
        )
        #expect(
            String(decoding: redaction.bytes, as: UTF8.self)
                == #"["authorization:[redacted],authorization:[redacted] [redacted]"]"#
        )
    }

    /// Each name's value reaches to the end of the text. Read anew for each name, this would take many minutes.
    @Test(arguments: [
        #"["WORD"]"#.replacing("WORD", with: repeated("authorization:")), repeated("apikey:"),
        repeated("authorization="),
        repeated("xtoken=eyJ"), repeated("xtoken:eyJ.a"), #"["WORD"]"#.replacing("WORD", with: repeated("://a")),
        #"["WORD"]"#.replacing("WORD", with: repeated("eyJhbGciOiJIUzI1NiJ9.")),
        #"["WORD"]"#.replacing("WORD", with: repeated("@:a")), repeated("\u{1}\u{D9}@token"),
        #"["WORD"]"#.replacing("WORD", with: repeated(#"{\"k\":"#)),
    ])
    func aTextFullOfNamesIsScannedInLinearTime(_ text: String) {
        let redaction = Secrets.redact(Array(text.utf8), kind: .itemsMessage)
        #expect(redaction.bytes.count <= text.utf8.count)
    }

    private static func repeated(_ word: String) -> String {
        String(repeating: word, count: (1 << 18) / word.utf8.count)
    }

    /// What an app's client says of itself is a secret; what its server calls a token may be anything.
    @Test(arguments: [
        ("ws.frame/1", "out", true), ("http.answer/1", "out", true), ("ws.frame/1", "in", false),
        ("realtime.frame/1", "out", false),
    ])
    func aTokenOfAnyClientIsReplaced(kind: String, direction: String, isReplaced: Bool) throws {
        let payload = #"{"type":"join","auth":{"token":"s3"},"list":[{"Token":"s3"}]}"#
        let draft = FrameDraft(
            recordedAt: Timestamp(seconds: 0),
            source: try SourceName("app"),
            kind: try EventKind(kind),
            key: "1",
            attributes: ["dir": direction]
        )
        let event = try draft.redacted(payload: Array(payload.utf8))
        let text = String(decoding: event.payload, as: UTF8.self)
        #expect(text == (isReplaced ? payload.replacing("s3", with: "[redacted]") : payload))
        #expect(event.attributes["redacted"] == (isReplaced ? "2" : nil))
    }

    @Test func anyBytesAreScannedWithoutACrash() {
        var generator = SeededGenerator(seed: 20_260_119)
        let alphabet = Array("{}[]\":,\\u0065tokenauthorization=&?%=. \n2d6op".utf8) + [0xFF, 0xEF, 0xBB, 0xBF, 0]
        for _ in 0..<3_000 {
            let length = Int.random(in: 0..<60, using: &generator)
            let bytes = (0..<length).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] }
            for kind in [EventKind.gatewayFrame, .serverSentEvent] {
                let redaction = Secrets.redact(bytes, kind: kind)
                if redaction.count == 0 { #expect(redaction.bytes == bytes) }
            }
        }
    }
}
