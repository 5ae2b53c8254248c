import Kinds

/// One way in which a client reads the same bytes otherwise than the remote meant them (I16).
///
/// Each rule is checked at one place, where the client departs from the canonical reading. `docs/profiles.md` names the
/// divergence behind each rule and the scenario that shows it.
public enum ReadingRule: Int, CaseIterable, Sendable {
    // VibeChannel

    /// A message file is cut at every `---`, wherever it occurs: the text before the first is dropped, the second piece
    /// is the front matter, and the rest is the body.
    case fileIsCutAtDashes
    /// Each line of the front matter is a key up to the first colon, then a text without the quotes at its ends. The
    /// last of equal keys counts, and indentation means nothing.
    case keysAreReadByLine
    /// `tags` are a text with commas or brackets. In the other lists, each line `- …` below the key is an entry as
    /// written, and a text is one entry.
    case listsAreReadByLine
    /// A date is RFC 3339 in upper case with a zone, and nothing else is a date.
    case datesAreISOAlone
    /// Every `.md` is removed from a file's name and from `reply_to`, so that two files can have the same id.
    case suffixIsCutEverywhere
    /// The body is trimmed of what Foundation calls white space and newlines.
    case bodyIsTrimmedBySwift
    /// Only the keys of front matter that the client uses are kept.
    case unknownKeysAreIgnored
    /// A file that cannot be read is passed over in silence.
    case faultsAreNotTold
    /// A file over 1 MB is no message, because the API does not give its content.
    case largeFilesAreNotFetched
    /// Only the first thousand files of a folder, by name, are listed.
    case foldersAreListedInPart
    /// A reply to anything but a live message is not marked as a reply.
    case lostParentsAreNotShown
    /// Front matter ends with a line that begins with `---`, without one at the end of the file. The first line may
    /// name the language: YAML, JSON, or JavaScript, whose literals are read and whose code is never run.
    case openFrontMatterIsWhole
    /// Front matter is read as by js-yaml: scalars of YAML 1.1, tags, aliases, keys that are not texts. Values become
    /// texts as in JavaScript, and a value that JavaScript treats as false is absent.
    case scalarsHaveTypes
    /// A date is what V8's `Date` makes of the value, to the millisecond. A time without a zone is read as UTC, because
    /// the reader's own zone is not known.
    case datesAreOfAnyValue
    /// Empty parts of a text with commas are entries; a value that is neither text nor list is no entry.
    case listsKeepEmptyParts
    /// `reply_to` without `.md` names no message.
    case replyNamesAWholeFile
    /// The body is trimmed of what JavaScript calls white space.
    case bodyIsTrimmedByJavaScript

    // Punchlist

    /// An event without `data` is no snapshot, and neither is one with no readable ticket.
    case emptyEventIsNoSnapshot
    /// A ticket of the stream that cannot be read is left out; the others are the whole list.
    case badTicketIsLeftOut
    /// An array with an element that cannot be read is no snapshot: the old list stays.
    case badElementFailsTheArray
    /// A `data:` line without a space behind the colon is passed over.
    case dataNeedsASpace
    /// CR, alone or before LF, ends no line of the stream.
    case linesEndInLFAlone
    /// An item without title or creation time cannot be read.
    case itemNeedsTitleAndCreated
    /// An item cannot be read if one of its questions lacks a member, as one with capitalised names does.
    case itemNeedsReadableQuestions

    // VibeStatus

    /// A file that is empty or has no status ends its session until it has one again.
    case unreadableFileEndsTheSession
    /// A prompt that cannot be read is left out.
    case unreadablePromptIsNone
    /// A session stays as it was when its status last changed: other writes are not uploaded.
    case sameStatusIsNotUploaded
    /// A session's time is when its change was noticed, not the one in its file.
    case timeIsThatOfUpload
    /// No process id is uploaded.
    case processIsNotUploaded
    /// While there are other sessions, a file without a status causes its status to be uploaded again.
    case unreadableFileIsUploadedAgain
    /// A session that ends half an hour or more after its last change is not removed from the cloud.
    case lateEndIsNotUploaded
    /// A session is shown for half an hour after its last change, not for two.
    case sessionsLastHalfAnHour

    // sideBar

    /// Changes of rows are applied in the order in which they arrive, repeats too.
    case rowsAreTakenAsTheyArrive
    /// A job is identified by its file, so jobs of one file are one job.
    case jobsAreKnownByTheirFile
    /// The deletion of a job is not read, since it names no file.
    case jobDeletionIsNotRead
    /// A website or file with a time of deletion stays in its list.
    case softDeletedStaysListed
    /// An update of a note without its content empties it.
    case missingContentIsEmpty
    /// An update of a file or job replaces it whole.
    case filesAndJobsAreReplaced
    /// An update of a website removes its transcripts.
    case transcriptsAreLost
    /// A note's creation time is that of its last update.
    case noteIsMadeWhenUpdated
    /// Messages of a conversation are sorted by their times.
    case messagesAreSortedByTime
    /// An update does not change a note's title.
    case noteTitleIsKept
    /// A note that moves out of all folders stays in its folder.
    case moveToTheRootIsNotSeen
    /// An update of a note that is unknown or softly deleted does nothing.
    case unknownNoteIsNotUpdated
    /// A website's record that is older than the `updated_at` shown can only delete.
    case olderWebsiteUpdateIsIgnored
    /// An update does not change a file's `updated_at`.
    case fileTimeIsKept
    /// Files are those of a list that is fetched half a second after a frame about a new file, a job's end or a job of
    /// an unlisted file. Other frames change and remove what is listed.
    case filesAreThoseOfTheList
    /// A column that the record of an update lacks loses its value.
    case missingColumnsAreLost
    /// A record with the scratchpad's title changes no note.
    case scratchpadIsNoNote

    // Retrocast

    /// A dispatch that repeats an earlier one of its connection is read again.
    case repeatsAreReadAgain
    /// A message or channel that is created again exists twice, the second time as `ID#2`.
    case createAlwaysAdds
    /// Messages are in the order of their arrival.
    case messagesStandAsTheyArrive
    /// The version that arrives last counts.
    case laterVersionCounts
    /// A deleted message or channel that is created again comes back; a deleted channel leaves its messages behind.
    case deletedMessageComesBack
    /// An update of a message that the client does not have does nothing.
    case unseenMessageIsNotUpdated
    /// Reactions are passed over.
    case reactionsAreIgnored
    /// Nobody is shown in a voice channel.
    case voiceIsNotShown
    /// Bans are passed over.
    case bansAreIgnored
    /// A deletion that does not contain the whole deleted object is not read.
    case deletionNeedsTheWholeObject
    /// A member without a list of roles is not read.
    case memberNeedsRoles
    /// Updates of members are passed over.
    case memberUpdateIsIgnored
    /// Roles are passed over.
    case rolesAreIgnored
    /// The user stays in a guild that READY's list lacks.
    case readyTakesNoGuildAway
    /// A user who goes on typing is shown only until eight seconds after the first time.
    case typingEndsWithItsFirstTimer
    /// The user's own typing is not stored.
    case ownTypingIsIgnored
    /// Channels of direct messages are not read.
    case directChannelsAreNotRead
    /// A deletion that names its thing by a number finds nothing.
    case numbersNameNothing
    /// A number keeps only the digits that a floating-point number has.
    case numbersAreRounded
    /// READY's list contains all guilds of the user; the channels and messages of others stay.
    case guildsLeftAreGone
    /// A channel of direct messages is stored as one of the guild `undefined`.
    case directChannelsAreOfNoKnownGuild
    /// A message ends its author's typing in its channel.
    case messageEndsTyping
    /// An update of a channel that no frame created does nothing.
    case unseenChannelIsNotUpdated
    /// READY's read states are passed over.
    case readStatesAreIgnored
    /// The user's own joining or leaving of a guild does not change the list of guilds.
    case ownMembershipIsNotFollowed
    /// An update of a guild adds it to the list, whether or not READY named it.
    case guildUpdateListsTheGuild
    /// Only the ids in a dispatch are checked; another member of a wrong type is absent.
    case membersAreNotChecked
    /// The first page of a channel's messages, or a list of channels, replaces what is listed.
    case answersReplaceLists

    // Several apps

    /// Only the answers of REST on the first connection count; with Punchlist, only those while no stream is open. A
    /// client that stays in one view requests nothing again.
    case laterAnswersAreNotRead

    // Past clients, and clients in a situation that a bug needs

    /// The first channel of the first commit with channels is open; what happens in others is not seen.
    case oneChannelIsReloaded
    /// A change within a minute of the last reload shows with the next one, because the listing comes from a cache.
    case listingsAreAMinuteOld
    /// A change whose reload failed at the server shows with the next change, because the reload is not repeated.
    case failedReloadIsNotRepeated
    /// A message that the client's user deletes stays until the next reload.
    case ownDeletionIsKept
    /// A message that the client's user sends exists twice until the next reload, as `ID` and `ID#2`.
    case ownMessageStandsTwice
    /// Only the newest five hundred messages of a channel are shown.
    case newestFiveHundredAreCached
    /// A message that the client's user edits keeps, until the next reload, the files and images that the edit drops.
    case ownEditKeepsWhatItDrops
    /// When the branch diverges, the client stays on its own line: it sees only commits that follow that line, and no
    /// merge.
    case partedBranchIsNotPulled
    /// A merge in which the client has resolved conflicts shows with the next change, and so do the changes that it
    /// merges.
    case resolvedConflictIsNotTold
    /// A change within ten seconds of another that was pulled shows with the next one, because the polls overlap.
    case pollDuringAnotherFails
    /// A message is identified by its file's name: one with the same name in another channel replaces it.
    case fileNameIsTheKey
    /// A deletion that contains only the key is not read.
    case keyOnlyDeletionIsNotRead
    /// Only the oldest hundred rows of an answer count.
    case oldestHundredAreListed
    /// A list replaces that of the viewed project, whatever project it names. The last outbound message tells which is
    /// viewed.
    case anyListIsTheViewedOne
    /// A client that requests no project views the personal list, `user`.
    case noProjectIsThePersonalList
    /// When a connection opens again, the personal list is viewed, and the list viewed before is gone.
    case reconnectShowsThePersonalList
    /// Events of a third or later connection are passed over, because that connection is for the default project.
    case thirdConnectionIsOfTheDefault
    /// No event of the stream is read, because the stream is never opened.
    case streamIsNeverOpened
    /// An event arrives in pieces of 1,024 bytes; a piece that begins or ends within a character is lost.
    case piecesCutCharacters
    /// The first event of the stream after an answer is passed over.
    case eventAfterAnAnswerIsSkipped
    /// A session is shown for half a minute after its last write.
    case sessionsLastHalfAMinute
    /// A session is shown for five minutes after its last write.
    case sessionsLastFiveMinutes
    /// A session whose file names a process is gone a second later, because that process was the hook's own shell.
    case processHasEnded
    /// A session whose file names a process is gone a minute later, because the hook found none that keeps running.
    case processHasEndedAfterAMinute
    /// No status is ever uploaded: each read of the files cancels the pending upload.
    case nothingIsUploaded
    /// A session's first status stays, because a record that exists cannot be created again.
    case firstStatusStays
    /// The end of a session is uploaded only if ten sessions are left, or none.
    case endsAreUploadedByTens
    /// A status that comes within three seconds of an upload counts as sent and is not.
    case changeDuringASaveIsLost
    /// The status uploaded last for a session counts beyond its end, unless there are other sessions.
    case lastSessionIsRememberedAsSent
    /// Each text of a prompt's file is a prompt, and none is removed.
    case everyPromptStays
    /// The query for prompts finds none.
    case noPromptIsFound
    /// A prompt is lost: its file is removed, and the upload fails.
    case promptIsNotUploaded
    /// A session is shown for ten seconds after its last upload; then another Mac removes the sessions that are not its
    /// own.
    case anotherMacCleansUp
    /// An answer with more than one page is never read to its end and changes nothing.
    case longAnswersNeverEnd
    /// An answer counts when it arrives, whenever it was requested.
    case answersAreTakenAsTheyArrive
    /// A file's creation time is that of its last update.
    case fileIsMadeWhenUpdated
    /// A conversation is read again only if its `updated_at` differs.
    case conversationNeedsANewTime
    /// A note without the key `archived` is not listed.
    case noteWithoutArchivedIsNotListed
    /// Only the first fifty archived notes are listed.
    case firstFiftyArchivedAreListed
    /// A change of a note within half a second of another shows with the next one, because the tree is still being
    /// read.
    case noteDuringARefreshIsMissed
    /// A change of a task within a second of another that was announced shows with the next one.
    case taskSoonAfterAnotherIsNotAnnounced

    // Any app: the sources that decoder files read

    /// A message that is shown and stated again as it is shown, or made again, is shown once more, as `ID#2`.
    case statedAgainIsAdded
    /// An older version of a message or item that arrives later replaces the newer one.
    case lateVersionReplaces
    /// A deletion of a message, item or event that is not there is forgotten: what arrives later is shown.
    case deletionOfUnseenIsForgotten
    /// An edit of a message that was never seen makes a message of what the edit states.
    case editOfUnseenMakesAMessage
    /// What a snapshot leaves out stays.
    case snapshotRemovesNothing
    /// A connection that opens drops what was shown before.
    case openingDropsWhatIsShown
    /// A patch replaces its message, channel or item: the members that it does not name are gone.
    case patchReplacesTheWhole
    /// A deleted message, channel or item that is stated again comes back.
    case deletedComesBack
    /// A reply to a message that is not shown is dropped.
    case replyToMissingIsDropped
    /// A reaction that is told again counts again: the second one is that of `USER#2`.
    case reactionsAreCounted
    /// Messages are listed in the order in which they came.
    case messagesAreListedAsTheyCame
    /// Deletions are passed over.
    case deletionsAreIgnored
    /// Versions of a message or item that is shown are passed over.
    case editsAreIgnored
    /// Answers count only until a second connection opens.
    case answersCountUntilAReconnect

    /// The families of events that the rule applies to.
    var families: [EventFamily] {
        switch self {
        case .fileIsCutAtDashes, .keysAreReadByLine, .listsAreReadByLine, .datesAreISOAlone, .suffixIsCutEverywhere,
            .bodyIsTrimmedBySwift, .unknownKeysAreIgnored, .faultsAreNotTold, .largeFilesAreNotFetched,
            .foldersAreListedInPart, .lostParentsAreNotShown, .openFrontMatterIsWhole, .scalarsHaveTypes,
            .datesAreOfAnyValue, .listsKeepEmptyParts, .replyNamesAWholeFile, .bodyIsTrimmedByJavaScript,
            .oneChannelIsReloaded, .listingsAreAMinuteOld, .fileNameIsTheKey, .ownDeletionIsKept,
            .ownMessageStandsTwice, .newestFiveHundredAreCached, .ownEditKeepsWhatItDrops, .partedBranchIsNotPulled,
            .resolvedConflictIsNotTold, .pollDuringAnotherFails:
            [.git]
        case .failedReloadIsNotRepeated: [.git, .notice]
        case .emptyEventIsNoSnapshot, .badTicketIsLeftOut, .badElementFailsTheArray, .dataNeedsASpace,
            .linesEndInLFAlone, .itemNeedsTitleAndCreated, .itemNeedsReadableQuestions, .anyListIsTheViewedOne,
            .eventAfterAnAnswerIsSkipped, .noProjectIsThePersonalList, .streamIsNeverOpened, .piecesCutCharacters:
            [.items]
        case .reconnectShowsThePersonalList, .thirdConnectionIsOfTheDefault: [.items, .link]
        case .unreadableFileEndsTheSession, .unreadablePromptIsNone, .sameStatusIsNotUploaded, .timeIsThatOfUpload,
            .processIsNotUploaded, .unreadableFileIsUploadedAgain, .lateEndIsNotUploaded, .sessionsLastHalfAMinute,
            .sessionsLastFiveMinutes, .processHasEnded, .processHasEndedAfterAMinute, .nothingIsUploaded,
            .firstStatusStays, .endsAreUploadedByTens, .changeDuringASaveIsLost, .lastSessionIsRememberedAsSent,
            .everyPromptStays, .promptIsNotUploaded, .anotherMacCleansUp:
            [.status]
        case .sessionsLastHalfAnHour: [.status, .cloudRecords]
        case .noPromptIsFound, .longAnswersNeverEnd: [.cloudRecords]
        case .rowsAreTakenAsTheyArrive, .jobsAreKnownByTheirFile, .jobDeletionIsNotRead, .softDeletedStaysListed,
            .missingContentIsEmpty, .filesAndJobsAreReplaced, .transcriptsAreLost, .noteIsMadeWhenUpdated,
            .messagesAreSortedByTime, .noteTitleIsKept, .moveToTheRootIsNotSeen, .unknownNoteIsNotUpdated,
            .olderWebsiteUpdateIsIgnored, .fileTimeIsKept, .filesAreThoseOfTheList, .missingColumnsAreLost,
            .scratchpadIsNoNote, .keyOnlyDeletionIsNotRead, .oldestHundredAreListed, .answersAreTakenAsTheyArrive,
            .fileIsMadeWhenUpdated, .conversationNeedsANewTime, .noteWithoutArchivedIsNotListed,
            .firstFiftyArchivedAreListed, .noteDuringARefreshIsMissed, .taskSoonAfterAnotherIsNotAnnounced:
            [.realtime]
        case .laterAnswersAreNotRead: [.gateway, .gatewayAnswer, .realtime, .items, .link]
        case .repeatsAreReadAgain, .createAlwaysAdds, .messagesStandAsTheyArrive, .laterVersionCounts,
            .deletedMessageComesBack, .unseenMessageIsNotUpdated, .reactionsAreIgnored, .voiceIsNotShown,
            .bansAreIgnored, .deletionNeedsTheWholeObject, .memberNeedsRoles, .memberUpdateIsIgnored,
            .rolesAreIgnored, .readyTakesNoGuildAway, .typingEndsWithItsFirstTimer, .ownTypingIsIgnored,
            .directChannelsAreNotRead, .numbersNameNothing, .numbersAreRounded, .guildsLeftAreGone,
            .directChannelsAreOfNoKnownGuild, .messageEndsTyping, .unseenChannelIsNotUpdated, .readStatesAreIgnored,
            .ownMembershipIsNotFollowed, .guildUpdateListsTheGuild, .membersAreNotChecked,
            .answersReplaceLists:
            [.gateway, .gatewayAnswer]
        case .statedAgainIsAdded, .lateVersionReplaces, .deletionOfUnseenIsForgotten, .editOfUnseenMakesAMessage,
            .snapshotRemovesNothing, .patchReplacesTheWhole, .deletedComesBack, .replyToMissingIsDropped,
            .reactionsAreCounted, .messagesAreListedAsTheyCame, .deletionsAreIgnored, .editsAreIgnored,
            .openingDropsWhatIsShown, .answersCountUntilAReconnect:
            [.generic]
        }
    }
}
