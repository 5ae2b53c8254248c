package import EventLog

/// A decoder, with a number for the meaning that it gives its events in the state.
///
/// Raise it with every change of the decoder, or of a fold for its changes, that gives other rows for the same events.
/// Caches store the numbers by raw value; if one differs, the rows of the sources that the decoder reads are made anew.
package enum DecoderVersion: String, CaseIterable, Sendable {
    case git, gateway, items, status, cloudkit, realtime, recorder

    /// The version of the decoder.
    package var number: Int {
        switch self {
        case .items, .status, .cloudkit, .recorder: 1
        case .git, .gateway, .realtime: 2
        }
    }

    /// The decoder that reads a kind; `nil` if none does.
    package init?(kind: EventKind) {
        switch EventFamily(kind: kind) {
        case .git: self = .git
        case .gateway, .gatewayAnswer: self = .gateway
        case .items: self = .items
        case .status: self = .status
        case .cloudRecords: self = .cloudkit
        case .realtime: self = .realtime
        case .link, .gap, .oversize, .notice: self = .recorder
        case .unknown: return nil
        }
    }
}
