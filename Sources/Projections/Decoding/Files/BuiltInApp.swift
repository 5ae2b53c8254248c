/// The apps whose formats this package reads without rules, and none of them.
///
/// Frames of a gateway, commits and status files have kinds of their own. Rows of tables and event streams have not: what they
/// mean is the app's, so a source declares it.
public enum BuiltInApp: String, CaseIterable, Sendable {
    case retrocast, vibechannel, sidebar, punchlist, vibestatus
    /// Another app: its rows are rows, and its event streams give nothing without a decoder file.
    case none

    /// Whether rows of the tables `conversations` and `tasks` are channels with messages, and items.
    var readsTables: Bool { self == .sidebar }

    /// Whether Server-Sent Events are lists of items.
    package var readsStreams: Bool { self == .punchlist }
}

extension DecoderFile {
    /// The file that declares that a source is of an app.
    public convenience init(declaring app: BuiltInApp) {
        self.init(
            name: "\(app.rawValue)/1",
            text: "decoder: \(app.rawValue)/1\napp: \(app.rawValue)\n",
            app: app,
            envelope: nil,
            absences: DecoderAbsences(),
            dedupe: nil,
            order: .id,
            rules: [],
            observed: [],
            samples: []
        )
    }
}
