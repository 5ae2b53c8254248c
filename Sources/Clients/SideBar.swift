import Projections

extension Profile {
    /// sideBar's iOS app.
    public static let sidebarIOS = Profile(
        "sidebar-ios",
        of: "sideBar",
        [
            Divergence(
                "S1",
                "goes on listing a softly deleted website or file",
                [.softDeletedStaysListed],
                ["sidebar-soft-deleted-website-and-file"]
            ),
            Divergence(
                "S3",
                "empties a note whose update lacks the content",
                [.missingContentIsEmpty],
                ["sidebar-pin-without-content"]
            ),
            Divergence(
                "S8",
                "takes changes as they arrive",
                [.rowsAreTakenAsTheyArrive],
                ["sidebar-website-updates-out-of-order", "sidebar-late-older-note"]
            ),
            Divergence(
                "S10, S12",
                "replaces a file or job by what the event has",
                [.filesAndJobsAreReplaced],
                ["sidebar-file-update-of-some-members"]
            ),
            Divergence(
                "S12",
                "knows a job by its file",
                [.jobsAreKnownByTheirFile],
                ["sidebar-late-event-of-an-old-job"]
            ),
            Divergence(
                "S13",
                "cannot decode a job's deletion",
                [.jobDeletionIsNotRead],
                ["sidebar-late-event-of-an-old-job"]
            ),
            Divergence(
                "S14",
                "sets a website's transcripts to none",
                [.transcriptsAreLost],
                ["sidebar-website-loses-its-transcripts"]
            ),
            Divergence(
                "S24",
                "sorts messages by time",
                [.messagesAreSortedByTime],
                ["sidebar-answer-before-its-question"]
            ),
            Divergence(
                "S29",
                "takes the time of an update for that of a note's making",
                [.noteIsMadeWhenUpdated],
                ["sidebar-note-out-of-its-folder"]
            ),
            Divergence(
                "(C12)",
                "reads a conversation again where its `updated_at` is another one: keeps the old title",
                [.conversationNeedsANewTime],
                ["sidebar-conversation-is-renamed"]
            ),
            Divergence(
                "(C31)",
                "loses the transcripts of a website that is read again",
                [.transcriptsAreLost],
                ["sidebar-first-sync-repeats-every-row"]
            ),
        ]
    )

    /// sideBar's web app.
    public static let sidebarWeb = Profile(
        "sidebar-web",
        of: "sideBar",
        [
            Divergence(
                "S4",
                "sees no new title of a note",
                [.noteTitleIsKept],
                ["sidebar-note-out-of-its-folder", "sidebar-rename-and-move"]
            ),
            Divergence(
                "S5",
                "sees no move out of all folders",
                [.moveToTheRootIsNotSeen],
                ["sidebar-note-out-of-its-folder", "sidebar-rename-and-move"]
            ),
            Divergence(
                "S6",
                "ignores an update of a note that its tree lacks, as one does that was softly deleted",
                [.unknownNoteIsNotUpdated],
                ["sidebar-update-of-an-unknown-note", "sidebar-note-comes-back"]
            ),
            Divergence(
                "S8",
                """
                passes over a record of a shown website whose `updated_at` is older, unless it deletes, and \
                takes all else as it arrives
                """,
                [.olderWebsiteUpdateIsIgnored, .rowsAreTakenAsTheyArrive],
                ["sidebar-website-updates-out-of-order", "sidebar-older-website-records", "sidebar-late-older-note"]
            ),
            Divergence(
                "(section 2)",
                "loses the columns of a note, website or file that an update's record lacks",
                [.missingColumnsAreLost],
                ["sidebar-updates-lack-columns"]
            ),
            Divergence(
                "(section 1)",
                "changes no note by a record with the scratchpad's title",
                [.scratchpadIsNoNote],
                ["sidebar-note-comes-back"]
            ),
            Divergence(
                "S10",
                "takes no `updated_at` of a file",
                [.fileTimeIsKept],
                ["sidebar-file-update-of-some-members"]
            ),
            Divergence(
                "S11 to S13, S18",
                """
                knows files and their jobs from a list without the program's own files, fetched half a \
                second after a frame that tells of a new file, of a job's end or of a job of an unlisted \
                file; other frames change and remove what is listed
                """,
                [.filesAreThoseOfTheList],
                ["sidebar-list-of-files", "sidebar-internal-files", "sidebar-late-event-of-an-old-job"]
            ),
            Divergence(
                "(C29)",
                """
                is not told of a task's change within a second of another that was announced, and shows it \
                with the next one
                """,
                [.taskSoonAfterAnotherIsNotAnnounced],
                ["sidebar-task-changes-within-a-second"]
            ),
        ]
    )

    /// The profiles of sideBar: its clients, then their variants.
    static let sideBar: [Profile] = [
        .sidebarIOS, .sidebarWeb,
        // sideBar's iOS app, which reads nothing again when it connects again.
        Profile(
            "open",
            of: .sidebarIOS,
            [
                Divergence(
                    "S31",
                    "reads nothing again when it connects again",
                    [.laterAnswersAreNotRead],
                    ["sidebar-subscribed-but-mute"]
                )
            ]
        ),
        // sideBar's iOS app, which needs half a second to read the tree of notes.
        Profile(
            "slow",
            of: .sidebarIOS,
            [
                Divergence(
                    "C9",
                    "shows a change within that time with the next one",
                    [.noteDuringARefreshIsMissed],
                    ["sidebar-two-notes-at-once"]
                )
            ]
        ),
        // sideBar's iOS app whose models lacked times.
        Profile(
            "before-eb4844fd",
            of: .sidebarIOS,
            [
                Divergence(
                    "C4",
                    "takes the time of an update for that of a file's making",
                    [.fileIsMadeWhenUpdated],
                    ["sidebar-file-keeps-its-creation"]
                )
            ]
        ),
        // sideBar's web app, which reads nothing again when it connects again.
        Profile(
            "open",
            of: .sidebarWeb,
            [
                Divergence(
                    "S31, C2, C3, C5, C19, C33",
                    "reads nothing again when it connects again",
                    [.laterAnswersAreNotRead],
                    ["sidebar-delete-missed-while-offline"]
                )
            ]
        ),
        // sideBar's web app that treated every answer as new.
        Profile(
            "before-22d0034c",
            of: .sidebarWeb,
            [
                Divergence(
                    "C1, C6, C7",
                    "takes every answer for new",
                    [.answersAreTakenAsTheyArrive],
                    ["sidebar-list-asked-for-before-the-pin", "sidebar-answers-overtake-each-other"]
                )
            ]
        ),
        // sideBar's web app whose server cut its list of archived notes before it sorted it.
        Profile(
            "before-dbd3ae08",
            of: .sidebarWeb,
            [
                Divergence(
                    "C14",
                    "is listed the first fifty archived notes",
                    [.firstFiftyArchivedAreListed],
                    ["sidebar-archived-list-is-cut"]
                )
            ]
        ),
        // sideBar's web app whose server listed no note without the key `archived`.
        Profile(
            "before-300e34e5",
            of: .sidebarWeb,
            [
                Divergence(
                    "C13",
                    "is not listed a note without the key `archived`",
                    [.noteWithoutArchivedIsNotListed],
                    ["sidebar-note-without-metadata"]
                )
            ]
        ),
    ]
}
