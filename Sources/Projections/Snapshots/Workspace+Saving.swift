import EventLog

extension Workspace {
    /// The whole state as bytes for `init(saved:)` of the same program; another version reads them as something else.
    func saved() throws -> [UInt8] {
        try StateEncoder.bytes(
            of: SavedWorkspace(rules: rules, sequence: sequence, clock: clock, sources: sources.map(SavedSource.init))
        )
    }

    /// The state that `saved` wrote; what follows is read by the same rules as what came before.
    ///
    /// - Throws: `DecodingError` where the bytes are no such state.
    init(saved bytes: [UInt8]) throws {
        let saved = try StateDecoder.value(SavedWorkspace.self, from: bytes)
        self.init(rules: saved.rules)
        sequence = saved.sequence
        clock = saved.clock
        sources = try saved.sources.map { try $0.state(rules: saved.rules) }
        for (index, source) in sources.enumerated() { indexes[source.name] = index }
    }
}

private struct SavedWorkspace: Codable {
    var rules: ReadingRules
    var sequence: SequenceNumber
    var clock: Timestamp?
    var sources: [SavedSource]
}

/// Everything of one source but what lives only while one event is applied.
private struct SavedSource: Codable {
    var name: String
    var rowRules: ReadingRules
    var names: Names
    var clock: Timestamp?
    var remoteClock: Timestamp?
    var issues: [Issue]
    var commits: GitCommitDecoder
    var gateway: GatewayDecoder
    var itemMessages: ItemsDecoder
    var statusFiles: StatusFileDecoder
    var realtime: RealtimeDecoder
    var cloudRecords: CloudKitDecoder
    var recorderGaps: RecorderGaps
    var channels: Channels
    var messages: Messages
    var community: Community
    var items: Items
    var sessions: Sessions
    var prompts: Prompts
    var rows: Rows

    init(_ state: SourceState) {
        name = state.name.rawValue
        rowRules = state.rowRules
        names = state.context.names
        clock = state.clock
        remoteClock = state.remoteClock
        issues = state.issues
        commits = state.commits
        gateway = state.gateway
        itemMessages = state.itemMessages
        statusFiles = state.statusFiles
        realtime = state.realtime
        cloudRecords = state.cloudRecords
        recorderGaps = state.recorderGaps
        channels = state.channels
        messages = state.messages
        community = state.community
        items = state.items
        sessions = state.sessions
        prompts = state.prompts
        rows = state.rows
    }

    func state(rules: ReadingRules) throws -> SourceState {
        var state = SourceState(name: try SourceName(name), rules: rules)
        state.rowRules = rowRules
        state.context.names = names
        state.clock = clock
        state.remoteClock = remoteClock
        state.issues = issues
        state.commits = commits
        state.gateway = gateway
        state.itemMessages = itemMessages
        state.statusFiles = statusFiles
        state.realtime = realtime
        state.cloudRecords = cloudRecords
        state.recorderGaps = recorderGaps
        state.channels = channels
        state.messages = messages
        state.community = community
        state.items = items
        state.sessions = sessions
        state.prompts = prompts
        state.rows = rows
        return state
    }
}
