package import EventLog

/// Every kind of event that recorders append and decoders read (docs/events.md). Acts, which this program does to a
/// log, are not among them.
///
/// A new kind is a case here and its row in the table below. `Ingest` adds the columns of captures and HARs
/// (`CaptureKind`, `HARKind`), and `play` the form that a kind is played as.
package enum KnownKind: String, CaseIterable, Sendable {
    case gitCommit = "git.commit/1"
    case gitRewrite = "git.rewrite/1"
    case gatewayFrame = "gateway.frame/1"
    case gatewayREST = "gateway.rest/1"
    case realtimeFrame = "realtime.frame/1"
    case realtimeREST = "realtime.rest/1"
    case itemsMessage = "items.message/1"
    case serverSentEvent = "sse.event/1"
    case statusFile = "status.file/1"
    case cloudKitRecords = "cloudkit.records/1"
    case socketFrame = "ws.frame/1"
    case httpAnswer = "http.answer/1"
    case jsonRecord = "json.record/1"
    case clientObserved = "client.observed/1"
    case recorderLink = "recorder.link/1"
    case recorderHTTP = "recorder.http/1"
    case recorderLimit = "recorder.limit/1"
    case recorderGap = "recorder.gap/1"
    case recorderOversize = "recorder.oversize/1"

    /// What the modules do with events of one kind.
    package struct Row: Sendable {
        /// The kinds that are decoded alike.
        package let family: EventFamily
        /// The decoder whose number says what the events mean.
        package let decoder: DecoderVersion
        /// What an event does to a playback; `nil` for nothing.
        package let play: Play?
        /// How a payload is taken apart to be shrunk.
        package let shrink: Shrink
        /// Where an event's title is; `nil` if its kind has none.
        package let title: Title?

        /// The arguments are a row's columns, from left to right.
        fileprivate init(
            _ family: EventFamily,
            _ decoder: DecoderVersion,
            _ play: Play?,
            _ shrink: Shrink,
            _ title: Title?
        ) {
            (self.family, self.decoder, self.play, self.shrink, self.title) = (family, decoder, play, shrink, title)
        }
    }

    /// The table of kinds.
    package var row: Row {
        switch self {
        //                       family        decoder   play      shrink       title
        case .gitCommit: Row(.git, .git, .commit, .commit, .member("subject"))
        case .gitRewrite: Row(.git, .git, .rewrite, .commit, nil)
        case .gatewayFrame: Row(.gateway, .gateway, .frame, .frame, .gatewayFrame)
        case .gatewayREST: Row(.gatewayAnswer, .gateway, .answer, .value, nil)
        case .realtimeFrame: Row(.realtime, .realtime, .frame, .frame, .realtimeFrame)
        case .realtimeREST: Row(.realtime, .realtime, .answer, .value, .count("row", in: .payload))
        case .itemsMessage: Row(.items, .items, nil, .value, .count("item", in: .payloadOrMember("items")))
        case .serverSentEvent: Row(.items, .items, .frame, .stream, .streamEvent)
        case .statusFile: Row(.status, .status, .file, .value, nil)
        case .cloudKitRecords: Row(.cloudRecords, .cloudkit, nil, .frame, .count("record", in: .member("records")))
        case .socketFrame: Row(.generic, .file, .frame, .frame, nil)
        case .httpAnswer: Row(.generic, .file, .answer, .value, nil)
        case .jsonRecord: Row(.generic, .file, nil, .value, nil)
        case .clientObserved: Row(.observed, .recorder, nil, .value, .member("channel"))
        case .recorderLink: Row(.link, .recorder, .link, .value, nil)
        case .recorderHTTP: Row(.notice, .recorder, nil, .value, nil)
        case .recorderLimit: Row(.notice, .recorder, nil, .value, nil)
        case .recorderGap: Row(.gap, .recorder, nil, .value, .member("reason"))
        case .recorderOversize: Row(.oversize, .recorder, .lost, .value, nil)
        }
    }

    /// The kind of an event; `nil` if this program knows no such kind, or another version of it.
    package init?(_ kind: EventKind) {
        self.init(rawValue: kind.rawValue)
    }
}

extension KnownKind {
    /// What an event of a kind does to a playback.
    package enum Play: String, Sendable {
        case link, frame, answer, file, commit, rewrite, lost
    }

    /// How a payload may be cut.
    package enum Shrink: String, Sendable {
        /// A document of a commit: its texts alone, because its other members describe the tree.
        case commit
        /// A JSON value whose outermost members say what it is and stay.
        case frame
        /// The lines of a Server-Sent Event, each with a JSON value of its own.
        case stream
        /// One JSON value; bytes that are none stay whole.
        case value
    }

    /// Where the title of an event is.
    package enum Title: Sendable {
        /// The name of a dispatch, else of the opcode.
        case gatewayFrame
        /// The change and its table, else the event's name.
        case realtimeFrame
        /// The field `event` of a Server-Sent Event.
        case streamEvent
        /// A member of the payload.
        case member(String)
        /// How many of a noun there are: the elements of a list.
        case count(String, in: List)
    }

    /// Where in a payload a list is.
    package enum List: Sendable {
        case payload
        case member(String)
        case payloadOrMember(String)
    }
}

extension EventKind {
    /// A kind of the table.
    package init(_ known: KnownKind) {
        self.init(listed: known.rawValue)
    }

    /// True for a kind of the table. Compares one text, where `KnownKind.init` compares all of them.
    package func `is`(_ known: KnownKind) -> Bool { rawValue == known.rawValue }
}

/// The kinds of events that are decoded alike.
package enum EventFamily: Sendable {
    case git, gateway, gatewayAnswer, items, status, cloudRecords, realtime, link, gap, oversize
    /// Payloads of any app, which the source's decoder file reads; without one they change nothing.
    case generic
    /// What a client itself showed. It is compared with the state, and no part of it.
    case observed
    /// Recorders' notes about their own work, such as HTTP statuses and rate limits. They are not part of the state.
    case notice
    /// Kinds that no decoder reads, which become issues.
    case unknown

    /// The family of a kind, its version included: a newer version of a format is `unknown` until a decoder reads it.
    package init(kind: EventKind) {
        self = KnownKind(kind)?.row.family ?? .unknown
    }
}

/// A decoder, with a number for the meaning that it gives its events in the state.
///
/// Raise it with every change of the decoder, or of a fold for its changes, that gives other rows for the same events.
/// Caches store the numbers by raw value; if one differs, the rows of the sources that the decoder reads are made anew.
package enum DecoderVersion: String, CaseIterable, Sendable {
    case git, gateway, items, status, cloudkit, realtime, recorder, file

    /// The version of the decoder.
    package var number: Int {
        switch self {
        case .items, .status, .cloudkit, .recorder, .file: 1
        case .git, .gateway, .realtime: 2
        }
    }

    /// The decoder that reads a kind; `nil` if none does.
    package init?(kind: EventKind) {
        guard let known = KnownKind(kind) else { return nil }
        self = known.row.decoder
    }
}
