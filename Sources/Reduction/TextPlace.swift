/// Where a text stands, which says what of it may stay.
enum TextPlace: Hashable, Sendable {
    /// What people or programs wrote, ids, and whatever has no other place.
    case text
    /// A member or attribute that holds words of a protocol, such as `t` or `status`.
    case constant
    /// The topic of a channel, or a table's name.
    case topic
    /// A path, a route or an address.
    case path
    /// A file of a repository, which may begin with front matter.
    case file
    /// What a commit says it does.
    case subject
    /// The name of a member or column.
    case name
    /// A constant without words, such as a file's mode.
    case verbatim

    /// The place of a member's value.
    ///
    /// - Parameters:
    ///   - name: The member's name.
    ///   - outer: The place of the object; what is within a constant is one, too.
    init(ofMember name: String, within outer: TextPlace) {
        switch name {
        case "mode": self = .verbatim
        case "table", "schema": self = .topic
        case _ where ProtocolWords.membersWithConstants.contains(name): self = .constant
        case _ where ProtocolWords.membersWithPaths.contains(name): self = .path
        default: self = outer == .constant ? .constant : .text
        }
    }

    /// The place of an attribute's value.
    init(ofAttribute name: String) {
        switch name {
        case "path", "folder": self = .path
        case "table", "topic": self = .topic
        case _ where ProtocolWords.attributesWithConstants.contains(name): self = .constant
        default: self = .text
        }
    }
}

/// Words of the apps' protocols, which identify nobody. Replacing them in their places would make events mean something
/// else.
enum ProtocolWords {
    /// Stay in every text.
    static let everywhere = words("http https redacted true false null utc gmt")

    /// Texts that mean something to an app as a whole.
    static let markers: Set<String> = ["__folder__", "\u{270F}\u{FE0F} Scratchpad"]

    /// Stay in members and attributes that hold constants, and in keys.
    static let constants = words(
        """
        ready resumed message create update delete bulk reaction add remove guild channel member role ban typing start presence \
        voice state identify resume heartbeat hello ack invalid session reconnect request members insert select \
        phx join leave reply close error postgres changes system broadcast diff ok timeout \
        live deleted unknown compacted soft expired pending answered unreadable stale \
        folder text category dm group conversation forum thread \
        working idle needs input not running idle prompt needsinput notrunning \
        online offline dnd invisible \
        open closed blocked in progress done inbox active snoozed completed complete queued processing failed streaming success \
        trashed archived uploading uploaded transcribing cancelled stopped \
        task ticket agent bug feature user assistant tool \
        string timestamp int double list reference bytes asset int64 uuid boolean varchar jsonb bool numeric date time \
        record found conflict \
        out write open close query lookup link gap page last level normal warning paused made body har \
        gave up snapshot replay nothing file \
        stopped disconnected hole oversize unsubscribed resubscribed unreachable rate limit overflow replaced unwatched \
        late no messages rewrite deletes deleted before after \
        git commit gateway frame rest realtime items sse event status cloudkit records recorder http oversize \
        application json html plain stream charset utf gzip br deflate identity \
        public phoenix session prompt
        """
    )

    /// Stay in topics and where tables are named.
    static let tables = words(
        "realtime public phoenix db notes websites ingested files file processing jobs conversations tasks messages website youtube "
            + "transcripts transcript"
    )

    /// Stay in paths and addresses, with those of tables.
    static let paths = words(
        """
        tmp vibestatus prompt rest api auth functions storage database public private production development records query lookup \
        users guilds channels members roles bans messages search voice states reactions read me ws wss gateway \
        realtime websocket subscribe status queue select eq neq gt gte lt lte order limit offset before after around asc desc \
        github com issues pull assets gitkeep readme agent schema archive ai id is in like user updated at project created
        """
    )

    /// Stay behind a full stop.
    static let extensions = words(
        "md json jsonl ndjson yml yaml txt png jpg jpeg gif svg webp heic pdf csv html js ts swift zip mp mov m com org net example"
    )

    /// Keys of front matter that stay.
    static let frontMatter: Set<String> = [
        "from", "date", "reply_to", "edited", "tags", "files", "images", "attachments", "title", "subject", "path",
        "name",
        "type", "github_issue", "size", "url", "mime", "id", "<<",
    ]

    /// Stay in what commits say they do: a client knows its own deletions by them.
    static let subjects = words("delete message")

    /// Members that hold constants, with everything below them.
    static let membersWithConstants: Set<String> = [
        "t", "op", "event", "type", "status", "state", "errors", "extension", "ref", "join_ref", "recordType",
        "notification_type", "notificationType", "reason", "closes", "encoding", "role", "kind", "cause",
        "serverErrorCode", "eventType",
    ]

    /// Members that hold paths or addresses.
    static let membersWithPaths: Set<String> = [
        "path", "github_path", "reply_to_path", "transcript_path", "url", "url_full", "source_url", "filter",
        "resume_gateway_url", "recordName", "userRecordName", "folder",
    ]

    /// Attributes that recorders fill with fixed words.
    static let attributesWithConstants: Set<String> = [
        "dir", "link", "op", "code", "reason", "gap", "status", "type", "level", "of", "redacted", "encoded", "by",
        "content-type", "content-encoding", "last", "page", "time", "bytes", "used", "reset",
    ]

    /// Names of members that decoders read, or that the apps' formats have.
    static let members = Set(
        """
        access_token answer answeredAt apikey archived around array askedAt assignee attachments attempts author author_avatar_hash \
        author_display_name author_id author_username authorName avatar bans before blob body bot channel channel_id channels \
        closed_at closes code color columns commit commit_timestamp committer completed_at config content continuationMarker \
        created created_at created_by createdAt d data date deadline deleted deleted_at deps description device deviceID \
        deviceName display_name domain done edited edited_at edited_timestamp email emoji encoded error error_code error_message \
        errors event eventType expires_at extension extra fields file file_id filename filename_original files filter \
        finished_at first_message folder folder_marker from fromMissing github_issue github_path github_sha github_synced \
        global_name group_id guild_id guild guilds hasUnresolvedDep heartbeat_interval id ID ids images is_archived is_default \
        items join_ref joined_at joins joined key kind label Label labels last_message_id last_opened_at lease_expires_at leaves \
        length list macDeviceName member members mention_count mentions merge message message_count message_id \
        message_reference messages metadata metas mime_original missingParents mode modified name nickname nick not notes \
        notification_type notificationType offset old_record op options Options order owner_id page pages parameters parent_id \
        parents path payload permissions phx_ref pid pinned pinned_order plan-questions position postgres_changes presence \
        presence_ref priority private project project_id promptId promptMessage prompt_message provisioned published_at question \
        Question questions reactions read_states reading_time ready reason recipients record recordChangeTag recordName \
        records recordType ref removed reply_to reply_to_id reply_to_path responded respondedAt respondedFromDevice response \
        responseText resume_gateway_url retryAfter role role_id roles running s saved_at schema self self_deaf self_mute sender \
        sender_user_id seq sequence server_id serverErrorCode session sessionId session_id sha256 size size_bytes snooze source \
        source_metadata source_url stage started_at state states status subject summary synced_at system t table tag tags task \
        tasks text ticket time timestamp title title_generated to token toolCalls topic transcript transcript_excerpt \
        transcript_excerpt_base64 transcript_path triage triaged type unavailable updated_at url url_full user user_id username \
        userRecordName users uuid v v1 value Value version voice voice_states website_transcript worker_id youtube_transcripts \
        changes errors __folder__ retry
        """
        .split(whereSeparator: \.isWhitespace).map(String.init)
    ).union(frontMatter)

    /// Stay in every text where the class `terms` stays.
    static let all = everywhere.union(constants).union(tables).union(paths).union(calendar)
        .union(frontMatter.flatMap { $0.split(separator: "_").map(String.init) })
        .union(words("nan undefined www coordinated universal data event retry"))

    /// Months and days of the week. Those of dates written out move with the date.
    private static let calendar = Set(
        (WrittenDate.months + WrittenDate.weekdays).flatMap { [$0, String($0.prefix(3))] }
    )

    private static func words(_ list: String) -> Set<String> {
        Set(list.split(whereSeparator: \.isWhitespace).map(String.init))
    }
}
