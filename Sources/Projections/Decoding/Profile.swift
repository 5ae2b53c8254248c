/// Whose reading of the bytes a replay follows (C12): a set of reading rules and nothing else.
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

    /// How the profile departs from the canonical reading.
    public var rules: ReadingRules {
        switch self {
        case .canonical: []
        case .vibechannelIOS:
            [
                .fileIsCutAtDashes, .keysAreReadByLine, .listsAreReadByLine, .datesAreISOAlone, .suffixIsCutEverywhere,
                .bodyIsTrimmedBySwift, .unknownKeysAreIgnored, .faultsAreNotTold, .largeFilesAreNotFetched,
                .foldersAreListedInPart, .lostParentsAreNotShown,
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
            ]
        case .sidebarIOS:
            [
                .rowsAreTakenAsTheyArrive, .jobsAreKnownByTheirFile, .jobDeletionIsNotRead, .softDeletedStaysListed,
                .missingContentIsEmpty, .filesAndJobsAreReplaced, .transcriptsAreLost, .noteIsMadeWhenUpdated,
                .messagesAreSortedByTime,
            ]
        case .sidebarWeb:
            [
                .rowsAreTakenAsTheyArrive, .noteTitleIsKept, .moveToTheRootIsNotSeen,
                .unknownNoteIsNotUpdated, .olderWebsiteUpdateIsIgnored, .fileTimeIsKept, .filesAreThoseOfTheList,
                .missingColumnsAreLost, .scratchpadIsNoNote,
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
                .linesEndInLFAlone, .itemNeedsTitleAndCreated, .itemNeedsReadableQuestions,
            ]
        }
    }
}
