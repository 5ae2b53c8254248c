import EventLog

/// What is the same for all events of a lane (one source, kind and attributes), found out once for each.
struct ReplayLanes {
    /// What is to be done with the events of a lane.
    struct Lane {
        var isIncluded: Bool
        /// The source's place in the workspace, where its events are inbound gateway frames that may be plain.
        var gateway: Int?
        var connection: String?
    }

    private var lanes: [Lane?] = []

    /// The lane of an event.
    @inline(__always)
    mutating func lane(
        of event: borrowing EventView,
        _ options: ReplayOptions,
        in workspace: inout Workspace
    ) -> Lane {
        let number = Int(event.laneNumber)
        if number < lanes.count, let lane = lanes[number] { return lane }
        return add(event, number, options, in: &workspace)
    }

    @inline(never)
    private mutating func add(
        _ event: borrowing EventView,
        _ number: Int,
        _ options: ReplayOptions,
        in workspace: inout Workspace
    ) -> Lane {
        var lane = Lane(isIncluded: options.sources?.contains(event.source) ?? true)
        let isFrame = event.kind.rawValue == GatewayDecoder.frameKind && event.attributes["dir"] != "out"
        if lane.isIncluded, isFrame, !event.isAct {
            let source = workspace.sourceIndex(of: event.source)
            lane.gateway = workspace.sources[source].takesPlainFrames ? source : nil
            lane.connection = event.attributes["connection"]
        }
        while lanes.count <= number { lanes.append(nil) }
        lanes[number] = lane
        return lane
    }
}
