/// One way in which a client reads the same bytes otherwise than the remote meant them.
///
/// Each is asked at one place, where the client and the canonical reading part. `docs/profiles.md` names the divergence
/// behind each, and the scenario that shows it.
public enum ReadingRule: Int, CaseIterable, Sendable {
    // VibeChannel

    /// A message file is cut at every `---`, wherever it stands: front matter is the second piece, whatever was before the
    /// first is dropped, and the rest is the body.
    case fileIsCutAtDashes
    /// Each line of the front matter is a key up to the first colon and a text without the quotes at its ends; the last
    /// of equal keys counts, and indentation means nothing.
    case keysAreReadByLine
    /// `tags` are a text with commas or brackets; of the other lists each line `- …` below the key is an entry as
    /// written, and a text is one entry.
    case listsAreReadByLine
    /// A date is RFC 3339 in upper case with a zone, and nothing else is a date.
    case datesAreISOAlone
    /// Every `.md` goes out of a file's name and out of `reply_to`; two files can have one id.
    case suffixIsCutEverywhere
    /// The body is trimmed of what Foundation calls white space and newlines.
    case bodyIsTrimmedBySwift
    /// Of front matter only the keys that the client has a use for are kept.
    case unknownKeysAreIgnored
    /// A file that cannot be read is passed over in silence.
    case faultsAreNotTold
    /// A file over 1 MB is no message: the API gives no content of it.
    case largeFilesAreNotFetched
    /// Of a folder only the first thousand files are there, in the order of their names.
    case foldersAreListedInPart
    /// A reply to something that is no live message shows no mark of being a reply.
    case lostParentsAreNotShown
    /// Front matter without a closing line goes on to the end of the file; a line closes it that begins with `---`, and
    /// the first line may name the language: YAML, JSON, or JavaScript, of which literals are read and code is never run.
    case openFrontMatterIsWhole
    /// Front matter is what js-yaml reads: scalars of YAML 1.1, tags, aliases, keys that are no texts. Texts made of values
    /// are JavaScript's, and what is false to JavaScript is absent.
    case scalarsHaveTypes
    /// A date is what V8's `Date` makes of the value, to the millisecond. A time without a zone is taken as UTC for want of
    /// the reader's own zone.
    case datesAreOfAnyValue
    /// Empty parts of a text with commas are entries, and a value that is neither text nor list is none.
    case listsKeepEmptyParts
    /// `reply_to` without `.md` names no message.
    case replyNamesAWholeFile
    /// The body is trimmed of what JavaScript calls white space.
    case bodyIsTrimmedByJavaScript

    // Punchlist

    /// An event without `data` is no snapshot, nor is one of whose tickets none can be read.
    case emptyEventIsNoSnapshot
    /// A ticket of the stream that cannot be read is not there; the others are the whole list.
    case badTicketIsLeftOut
    /// An array with an element that cannot be read is no snapshot: the old list stays.
    case badElementFailsTheArray
    /// A `data:` line without a space behind the colon is passed over.
    case dataNeedsASpace
    /// CR, alone or before LF, ends no line of the stream.
    case linesEndInLFAlone
    /// An item without title or creation time cannot be read.
    case itemNeedsTitleAndCreated
    /// An item with a question that lacks a member, as one with capitalised names does, cannot be read.
    case itemNeedsReadableQuestions

    // VibeStatus

    /// A file that is empty or says no status ends its session, until it says one again.
    case unreadableFileEndsTheSession
    /// A prompt that cannot be read is not there.
    case unreadablePromptIsNone
    /// A session is what it was when its status last changed: other writes are not uploaded.
    case sameStatusIsNotUploaded
    /// A session's time is that at which its change was noticed, whatever its file says.
    case timeIsThatOfUpload
    /// No process id is uploaded.
    case processIsNotUploaded
    /// While other sessions are there, a file that says no status makes its status be uploaded again.
    case unreadableFileIsUploadedAgain
    /// A session that ends half an hour after its last change, or later, is not taken out of the cloud.
    case lateEndIsNotUploaded
    /// A session is shown for half an hour after its last change, not for two.
    case sessionsLastHalfAnHour

    // sideBar

    /// Changes of rows are applied in the order in which they arrive, repeats too.
    case rowsAreTakenAsTheyArrive
    /// A job is known by its file: jobs of one file are one.
    case jobsAreKnownByTheirFile
    /// The deletion of a job is not read, since it names no file.
    case jobDeletionIsNotRead
    /// A website or file with a time of deletion stays in its list.
    case softDeletedStaysListed
    /// An update of a note without its content empties it.
    case missingContentIsEmpty
    /// An update of a file or job is the whole of it.
    case filesAndJobsAreReplaced
    /// An update of a website takes away its transcripts.
    case transcriptsAreLost
    /// A note was made when it was last updated.
    case noteIsMadeWhenUpdated
    /// Messages of a conversation stand in the order of their times.
    case messagesAreSortedByTime
    /// An update does not change a note's title.
    case noteTitleIsKept
    /// A note that moves out of all folders stays in its folder.
    case moveToTheRootIsNotSeen
    /// An update of a note that is not known, or is softly deleted, does nothing.
    case unknownNoteIsNotUpdated
    /// A website's record older than the shown one's `updated_at` does nothing but delete.
    case olderWebsiteUpdateIsIgnored
    /// An update does not change a file's `updated_at`.
    case fileTimeIsKept
    /// Files are those of a list, fetched half a second after a frame that tells of a new file, of a job's end or of a
    /// job of an unlisted file; other frames change and remove what is listed.
    case filesAreThoseOfTheList
    /// A column that the record of an update lacks has no value any more.
    case missingColumnsAreLost
    /// A record with the scratchpad's title changes no note.
    case scratchpadIsNoNote

    // Retrocast

    /// A dispatch that repeats an earlier one of its connection is read again.
    case repeatsAreReadAgain
    /// A message or channel that is created again stands twice, the second time as `ID#2`.
    case createAlwaysAdds
    /// Messages stand in the order in which they arrived.
    case messagesStandAsTheyArrive
    /// Of two versions the one that arrives later counts.
    case laterVersionCounts
    /// A deleted message or channel that is created again is there again; a channel leaves its messages behind.
    case deletedMessageComesBack
    /// An update of a message that is not there does nothing.
    case unseenMessageIsNotUpdated
    /// Reactions are passed over.
    case reactionsAreIgnored
    /// Nobody is ever seen in a voice channel.
    case voiceIsNotShown
    /// Bans are passed over.
    case bansAreIgnored
    /// A deletion without the whole object that is deleted is not read.
    case deletionNeedsTheWholeObject
    /// A member without a list of roles is not read.
    case memberNeedsRoles
    /// Updates of members are passed over.
    case memberUpdateIsIgnored
    /// Roles are passed over.
    case rolesAreIgnored
    /// A guild that READY's list lacks is still one that the user is in.
    case readyTakesNoGuildAway
    /// Somebody who goes on typing is shown until eight seconds after the first time.
    case typingEndsWithItsFirstTimer
    /// The user's own typing is not stored.
    case ownTypingIsIgnored
    /// Channels of direct messages are not read.
    case directChannelsAreNotRead
    /// A deletion that names its thing by a number finds nothing.
    case numbersNameNothing
    /// A number keeps the digits that a floating-point number has.
    case numbersAreRounded
    /// READY's list of guilds is all the guilds there are; the channels and messages of others stay.
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
    /// An update of a guild puts it on the list, whether or not READY named it.
    case guildUpdateListsTheGuild
    /// No member of a dispatch is checked but ids: what cannot be what it should be is absent.
    case membersAreNotChecked
    /// The first page of a channel's messages, and a list of channels, takes the place of what is listed.
    case answersReplaceLists

    // Several apps

    /// Of the answers of REST those count that came on the first connection; of Punchlist, those while no stream is open.
    /// A client that stays in one view asks for nothing again.
    case laterAnswersAreNotRead

    // Past clients, and clients in a situation that a bug needs

    /// Of the channels that the first commit with one brings, the first is open; what happens in others is not seen.
    case oneChannelIsReloaded
    /// A change within a minute of the last reload shows with the next one, for the listing comes from a cache.
    case listingsAreAMinuteOld
    /// A change behind an answer that the server failed to give shows with the next one: the reload is not repeated.
    case failedReloadIsNotRepeated
    /// A message that the client's user deletes stays until the next reload.
    case ownDeletionIsKept
    /// A message that the client's user sends stands twice until the next reload, as `ID` and `ID#2`.
    case ownMessageStandsTwice
    /// Of a channel the newest five hundred messages are there.
    case newestFiveHundredAreCached
    /// A message that the client's user edits has, until the next reload, the files and images that the edit drops.
    case ownEditKeepsWhatItDrops
    /// Where the branch parts, the client stays on the line that it has: no commit is seen but those that follow it, and
    /// no merge.
    case partedBranchIsNotPulled
    /// A merge in which the client has resolved conflicts shows with the next change, and so does what it merges.
    case resolvedConflictIsNotTold
    /// A change within ten seconds of another that was pulled, or sooner, shows with the next one: the polls overlap.
    case pollDuringAnotherFails
    /// A message is known by its file's name: one of that name in another channel takes its place.
    case fileNameIsTheKey
    /// A deletion that names nothing but the key is not read.
    case keyOnlyDeletionIsNotRead
    /// Of an answer the hundred rows count that were made first.
    case oldestHundredAreListed
    /// A list takes the place of the viewed project's, whatever project it names. What went out last says which is viewed.
    case anyListIsTheViewedOne
    /// To ask for no project is to view the personal list, `user`.
    case noProjectIsThePersonalList
    /// When a connection opens again, the personal list is viewed, and the one viewed before is there no more.
    case reconnectShowsThePersonalList
    /// What comes on a third connection, or a later one, is passed over, for that one is of the default project.
    case thirdConnectionIsOfTheDefault
    /// No event of the stream is read: the stream is never opened.
    case streamIsNeverOpened
    /// An event comes in pieces of 1,024 bytes, and one that is cut within a character is lost.
    case piecesCutCharacters
    /// The first event of the stream after an answer is passed over.
    case eventAfterAnAnswerIsSkipped
    /// A session is shown for half a minute after its last write.
    case sessionsLastHalfAMinute
    /// A session is shown for five minutes after its last write.
    case sessionsLastFiveMinutes
    /// A session whose file names a process is gone a second later, for that process was the hook's own shell.
    case processHasEnded
    /// A session whose file names a process is gone a minute later, for the hook found none that lives on.
    case processHasEndedAfterAMinute
    /// No status is ever uploaded: each look at the files ends the wait for the upload before.
    case nothingIsUploaded
    /// A session's first status stays, for a record that exists cannot be made again.
    case firstStatusStays
    /// An end goes to the cloud where ten sessions are left, or none.
    case endsAreUploadedByTens
    /// A status that comes within three seconds of an upload counts as sent and is not.
    case changeDuringASaveIsLost
    /// The status that was uploaded last for a session counts beyond its end, unless other sessions are there.
    case lastSessionIsRememberedAsSent
    /// Each text of a prompt's file is a prompt, and none is removed.
    case everyPromptStays
    /// The query for prompts finds none.
    case noPromptIsFound
    /// A prompt goes nowhere: its file is taken away, and the upload fails.
    case promptIsNotUploaded
    /// A session is shown for ten seconds after its last upload: then another Mac takes away what is not its own.
    case anotherMacCleansUp
    /// An answer that goes on on another page is never read to its end, and changes nothing.
    case longAnswersNeverEnd
    /// What an answer says counts as it arrives, whenever it was asked for.
    case answersAreTakenAsTheyArrive
    /// A file was made when it was last updated.
    case fileIsMadeWhenUpdated
    /// A conversation is read again where its `updated_at` is another one.
    case conversationNeedsANewTime
    /// A note without the key `archived` is not listed.
    case noteWithoutArchivedIsNotListed
    /// Of the archived notes the first fifty are listed.
    case firstFiftyArchivedAreListed
    /// A change of a note half a second after another or sooner shows with the next one, for the tree is being read.
    case noteDuringARefreshIsMissed
    /// A change of a task a second after another that was announced, or sooner, shows with the next one.
    case taskSoonAfterAnotherIsNotAnnounced

    /// The events that the rule is about.
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
        }
    }
}
