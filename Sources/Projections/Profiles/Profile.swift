/// Whose reading of the bytes a replay follows (I16): a set of reading rules and nothing else.
public enum Profile: String, CaseIterable, Sendable {
    /// What the remote meant.
    case canonical
    /// VibeChannel's iOS app, which reads message files from the GitHub API line by line.
    case vibechannelIOS = "vibechannel-ios"
    /// VibeChannel's VS Code extension, which reads message files by a YAML reader and JavaScript's `Date`.
    case vibechannelVSCode = "vibechannel-vscode"
    /// Retrocast's iOS app.
    case retrocastIOS = "retrocast-ios"
    /// Retrocast's web app.
    case retrocastWeb = "retrocast-web"
    /// Punchlist's iOS app, which splits the stream by itself and replaces its list by what it can read.
    case punchlistIOS = "punchlist-ios"
    /// VibeStatus's menu-bar app, which reads the status files anew every second.
    case vibestatusMac = "vibestatus-mac"
    /// VibeStatus's iOS app, which sees what the Mac uploads.
    case vibestatusPhone = "vibestatus-phone"
    /// sideBar's iOS app.
    case sidebarIOS = "sidebar-ios"
    /// sideBar's web app.
    case sidebarWeb = "sidebar-web"

    // After the `@`: `open` for a client that stays open in one view, a version, `before-` and a commit, or a
    // situation.

    /// VibeChannel's iOS app with one channel open; it reloads only that channel.
    case vibechannelIOSOpen = "vibechannel-ios@open"
    /// VibeChannel's iOS app of the user who wrote the first message, while one of the user's calls returns after a
    /// reload.
    case vibechannelIOSSender = "vibechannel-ios@sender"
    /// VibeChannel's iOS app when it opens a channel that it fetched within the last minute.
    case vibechannelIOSCached = "vibechannel-ios@cached"
    /// VibeChannel's iOS app of December 2025, which reads rows of Supabase.
    case vibechannelIOSSupabase = "vibechannel-ios@8d7d290"
    /// VibeChannel's extension with a git that refuses to pull a branch that has diverged from the local one.
    case vibechannelVSCodeParted = "vibechannel-vscode@parted"
    /// VibeChannel's extension of the user whose pull meets conflicts.
    case vibechannelVSCodeResolving = "vibechannel-vscode@resolving"
    /// VibeChannel's extension, whose git takes more than ten seconds.
    case vibechannelVSCodeSlow = "vibechannel-vscode@slow"
    /// Retrocast's iOS app, which fetches nothing when it connects again.
    case retrocastIOSOpen = "retrocast-ios@open"
    /// Retrocast's web app, which fetches no more than its guilds when it connects again.
    case retrocastWebOpen = "retrocast-web@open"
    /// Punchlist's iOS app while its stream is open.
    case punchlistIOSOpen = "punchlist-ios@open"
    /// Punchlist's iOS app that expected a repeat after each list that it asked for.
    case punchlistIOSBeforeAll = "punchlist-ios@before-4bc21a3"
    /// Punchlist's iOS app that took the server's default project for the personal list.
    case punchlistIOSBeforePersonal = "punchlist-ios@before-45b2358"
    /// Punchlist's iOS app that viewed the personal list after each reconnect.
    case punchlistIOSBeforeViews = "punchlist-ios@before-16741c1"
    /// Punchlist's iOS app that connected twice when it started.
    case punchlistIOSBeforeOneStart = "punchlist-ios@before-03aff15"
    /// Punchlist's iOS app that encoded the stream's address twice.
    case punchlistIOSBeforeStream = "punchlist-ios@before-01044ab"
    /// Punchlist's iOS app over a network that hands it 1,024 bytes at a time.
    case punchlistIOSPieces = "punchlist-ios@pieces"
    /// VibeStatus's menu-bar app of version 1.4.
    case vibestatusMac14 = "vibestatus-mac@1.4"
    /// VibeStatus's menu-bar app of version 1.6, whose hook writes the process of its own shell.
    case vibestatusMac16 = "vibestatus-mac@1.6"
    /// VibeStatus's menu-bar app between 1.6 and 1.8, in a terminal where the hook finds no process that lives on.
    case vibestatusMacBefore18 = "vibestatus-mac@before-99a4875"
    /// VibeStatus's menu-bar app of version 1.8.
    case vibestatusMac18 = "vibestatus-mac@1.8"
    /// VibeStatus's iOS app, whose Mac waited two seconds before each upload and looked every second.
    case vibestatusPhoneDraft1 = "vibestatus-phone@draft-1"
    /// VibeStatus's iOS app, whose Mac saved records without fetching them first.
    case vibestatusPhoneDraft2 = "vibestatus-phone@draft-2"
    /// VibeStatus's iOS app at the first public commit.
    case vibestatusPhoneFirst = "vibestatus-phone@943a3d8"
    /// VibeStatus's iOS app before prompts were removed.
    case vibestatusPhoneBeforeRemoval = "vibestatus-phone@before-af07be7"
    /// VibeStatus's iOS app, whose Mac needs three seconds to save a record.
    case vibestatusPhoneSlow = "vibestatus-phone@slow"
    /// VibeStatus's iOS app, whose Mac has no iCloud when a prompt comes.
    case vibestatusPhoneOffline = "vibestatus-phone@offline"
    /// VibeStatus's iOS app of somebody with a second Mac, which has none of these sessions.
    case vibestatusPhoneTwoMacs = "vibestatus-phone@two-macs"
    /// sideBar's iOS app, which reads nothing again when it connects again.
    case sidebarIOSOpen = "sidebar-ios@open"
    /// sideBar's iOS app, which needs half a second to read the tree of notes.
    case sidebarIOSSlow = "sidebar-ios@slow"
    /// sideBar's iOS app whose models lacked times.
    case sidebarIOSBeforeTimes = "sidebar-ios@before-eb4844fd"
    /// sideBar's web app, which reads nothing again when it connects again.
    case sidebarWebOpen = "sidebar-web@open"
    /// sideBar's web app that treated every answer as new.
    case sidebarWebBeforeOrder = "sidebar-web@before-22d0034c"
    /// sideBar's web app whose server cut its list of archived notes before it sorted it.
    case sidebarWebBeforeSorting = "sidebar-web@before-dbd3ae08"
    /// sideBar's web app whose server listed no note without the key `archived`.
    case sidebarWebBeforeNull = "sidebar-web@before-300e34e5"

    /// How the profile departs from the canonical reading.
    public var rules: ReadingRules {
        switch self {
        case .canonical: []
        case .vibechannelIOS:
            [
                .fileIsCutAtDashes, .keysAreReadByLine, .listsAreReadByLine, .datesAreISOAlone, .suffixIsCutEverywhere,
                .bodyIsTrimmedBySwift, .unknownKeysAreIgnored, .faultsAreNotTold, .largeFilesAreNotFetched,
                .foldersAreListedInPart, .lostParentsAreNotShown, .fileNameIsTheKey,
            ]
        case .vibechannelVSCode:
            [
                .openFrontMatterIsWhole, .scalarsHaveTypes, .datesAreOfAnyValue, .listsKeepEmptyParts,
                .replyNamesAWholeFile, .bodyIsTrimmedByJavaScript, .unknownKeysAreIgnored,
            ]
        case .vibestatusMac: [.unreadableFileEndsTheSession, .unreadablePromptIsNone]
        case .vibestatusPhone:
            [
                .unreadablePromptIsNone, .sameStatusIsNotUploaded, .timeIsThatOfUpload, .processIsNotUploaded,
                .unreadableFileIsUploadedAgain, .lateEndIsNotUploaded, .sessionsLastHalfAnHour,
                .lastSessionIsRememberedAsSent, .longAnswersNeverEnd,
            ]
        case .sidebarIOS:
            [
                .rowsAreTakenAsTheyArrive, .jobsAreKnownByTheirFile, .jobDeletionIsNotRead, .softDeletedStaysListed,
                .missingContentIsEmpty, .filesAndJobsAreReplaced, .transcriptsAreLost, .noteIsMadeWhenUpdated,
                .messagesAreSortedByTime, .conversationNeedsANewTime,
            ]
        case .sidebarWeb:
            [
                .rowsAreTakenAsTheyArrive, .noteTitleIsKept, .moveToTheRootIsNotSeen,
                .unknownNoteIsNotUpdated, .olderWebsiteUpdateIsIgnored, .fileTimeIsKept, .filesAreThoseOfTheList,
                .missingColumnsAreLost, .scratchpadIsNoNote, .taskSoonAfterAnotherIsNotAnnounced,
            ]
        case .retrocastIOS:
            [
                .repeatsAreReadAgain, .createAlwaysAdds, .messagesStandAsTheyArrive, .laterVersionCounts,
                .deletedMessageComesBack, .unseenMessageIsNotUpdated, .reactionsAreIgnored, .voiceIsNotShown,
                .bansAreIgnored, .deletionNeedsTheWholeObject, .memberNeedsRoles, .memberUpdateIsIgnored,
                .rolesAreIgnored, .readyTakesNoGuildAway, .typingEndsWithItsFirstTimer, .ownTypingIsIgnored,
                .directChannelsAreNotRead, .messageEndsTyping, .unseenChannelIsNotUpdated, .readStatesAreIgnored,
                .ownMembershipIsNotFollowed, .guildUpdateListsTheGuild, .answersReplaceLists,
            ]
        case .retrocastWeb:
            [
                .repeatsAreReadAgain, .createAlwaysAdds, .messagesStandAsTheyArrive, .laterVersionCounts,
                .deletedMessageComesBack, .unseenMessageIsNotUpdated, .reactionsAreIgnored, .voiceIsNotShown,
                .bansAreIgnored, .numbersNameNothing, .numbersAreRounded, .guildsLeftAreGone,
                .directChannelsAreOfNoKnownGuild, .messageEndsTyping, .unseenChannelIsNotUpdated, .readStatesAreIgnored,
                .ownMembershipIsNotFollowed, .guildUpdateListsTheGuild, .answersReplaceLists, .membersAreNotChecked,
            ]
        case .punchlistIOS:
            [
                .emptyEventIsNoSnapshot, .badTicketIsLeftOut, .badElementFailsTheArray, .dataNeedsASpace,
                .linesEndInLFAlone, .itemNeedsTitleAndCreated, .itemNeedsReadableQuestions, .anyListIsTheViewedOne,
            ]
        default: base.rules.union(variation)
        }
    }

    /// The present client that a variant derives from; the profile itself if it is no variant.
    var base: Profile {
        let name = rawValue.prefix { $0 != "@" }
        return Profile(rawValue: String(name)) ?? .canonical
    }

    /// The rules that a variant adds to those of its base.
    var variation: ReadingRules {
        switch self {
        case .retrocastIOSOpen, .retrocastWebOpen, .punchlistIOSOpen, .sidebarIOSOpen, .sidebarWebOpen:
            [.laterAnswersAreNotRead]
        case .vibechannelIOSOpen: [.oneChannelIsReloaded, .listingsAreAMinuteOld, .failedReloadIsNotRepeated]
        case .vibechannelIOSSender: [.ownDeletionIsKept, .ownMessageStandsTwice, .ownEditKeepsWhatItDrops]
        case .vibechannelIOSCached: [.newestFiveHundredAreCached]
        case .vibechannelIOSSupabase: [.keyOnlyDeletionIsNotRead, .oldestHundredAreListed]
        case .punchlistIOSBeforeAll: [.eventAfterAnAnswerIsSkipped]
        case .vibechannelVSCodeParted: [.partedBranchIsNotPulled]
        case .vibechannelVSCodeResolving: [.resolvedConflictIsNotTold]
        case .vibechannelVSCodeSlow: [.pollDuringAnotherFails]
        case .punchlistIOSBeforePersonal: [.noProjectIsThePersonalList]
        case .punchlistIOSBeforeViews: [.reconnectShowsThePersonalList]
        case .punchlistIOSBeforeOneStart: [.thirdConnectionIsOfTheDefault]
        case .punchlistIOSBeforeStream: [.streamIsNeverOpened]
        case .punchlistIOSPieces: [.piecesCutCharacters]
        case .vibestatusMac14: [.sessionsLastHalfAMinute]
        case .vibestatusMac16: [.processHasEnded]
        case .vibestatusMacBefore18: [.processHasEndedAfterAMinute]
        case .vibestatusMac18: [.sessionsLastFiveMinutes]
        case .vibestatusPhoneDraft1: [.nothingIsUploaded]
        case .vibestatusPhoneDraft2: [.firstStatusStays]
        case .vibestatusPhoneFirst: [.endsAreUploadedByTens, .noPromptIsFound]
        case .vibestatusPhoneBeforeRemoval: [.everyPromptStays]
        case .vibestatusPhoneSlow: [.changeDuringASaveIsLost]
        case .vibestatusPhoneOffline: [.promptIsNotUploaded]
        case .vibestatusPhoneTwoMacs: [.anotherMacCleansUp]
        case .sidebarIOSSlow: [.noteDuringARefreshIsMissed]
        case .sidebarIOSBeforeTimes: [.fileIsMadeWhenUpdated]
        case .sidebarWebBeforeOrder: [.answersAreTakenAsTheyArrive]
        case .sidebarWebBeforeSorting: [.firstFiftyArchivedAreListed]
        case .sidebarWebBeforeNull: [.noteWithoutArchivedIsNotListed]
        default: []
        }
    }
}
