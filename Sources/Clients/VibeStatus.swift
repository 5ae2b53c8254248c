import Projections

extension Profile {
    /// VibeStatus's menu-bar app, which reads the status files anew every second.
    public static let vibestatusMac = Profile(
        "vibestatus-mac",
        of: "VibeStatus",
        [
            Divergence(
                "V13, V14",
                "drops a session whose file says no status, until it says one",
                [.unreadableFileEndsTheSession],
                ["vibestatus-file-empty-at-the-end", "vibestatus-paused-is-no-status"]
            ),
            Divergence(
                "V16",
                "knows nothing of a prompt that it cannot read",
                [.unreadablePromptIsNone],
                ["vibestatus-prompt-with-a-raw-quote"]
            ),
        ]
    )

    /// VibeStatus's iOS app, which sees what the Mac uploads.
    public static let vibestatusPhone = Profile(
        "vibestatus-phone",
        of: "VibeStatus",
        [
            Divergence(
                "V1",
                "shows a session for half an hour after its last change of status (`expired` afterwards)",
                [.sessionsLastHalfAnHour, .sameStatusIsNotUploaded],
                ["vibestatus-works-on-while-the-phone-forgets", "vibestatus-long-task"]
            ),
            Divergence(
                "V3",
                "has the time at which the Mac noticed",
                [.timeIsThatOfUpload],
                ["vibestatus-noticed-ten-minutes-later"]
            ),
            Divergence(
                "V5",
                "has no process",
                [.processIsNotUploaded],
                ["vibestatus-project-changes-under-one-status"]
            ),
            Divergence(
                "V9",
                "sees no change but that of a status",
                [.sameStatusIsNotUploaded],
                ["vibestatus-project-changes-under-one-status"]
            ),
            Divergence(
                "V11",
                "an end half an hour after the last change takes no record away",
                [.lateEndIsNotUploaded],
                ["vibestatus-ends-after-forty-minutes"]
            ),
            Divergence(
                "V13",
                "gets the same status again, as a new one, after a half-written file",
                [.unreadableFileIsUploadedAgain],
                ["vibestatus-half-written-file"]
            ),
            Divergence("V14", "goes on showing the last status", [], ["vibestatus-paused-is-no-status"]),
            Divergence(
                "V16",
                "gets no prompt that the Mac cannot read",
                [.unreadablePromptIsNone],
                ["vibestatus-prompt-with-a-raw-quote"]
            ),
            Divergence(
                "(B16)",
                "never reads an answer to its end that goes on on another page",
                [.longAnswersNeverEnd],
                ["vibestatus-pages-repeat-themselves"]
            ),
            Divergence(
                "(B19)",
                "hears nothing of the only session that resumes with the status it ended with",
                [.lastSessionIsRememberedAsSent],
                ["vibestatus-resumed-with-the-same-status"]
            ),
        ]
    )

    /// The profiles of VibeStatus: its clients, then their variants.
    static let vibeStatus: [Profile] = [
        .vibestatusMac, .vibestatusPhone,
        // VibeStatus's menu-bar app of version 1.4.
        Profile(
            "1.4",
            of: .vibestatusMac,
            [
                Divergence(
                    "B9",
                    "shows a session for half a minute after its last write",
                    [.sessionsLastHalfAMinute],
                    ["vibestatus-long-task"]
                )
            ]
        ),
        // VibeStatus's menu-bar app of version 1.6, whose hook writes the process of its own shell.
        Profile(
            "1.6",
            of: .vibestatusMac,
            [
                Divergence(
                    "B7",
                    "ends a session whose process is gone",
                    [.processHasEnded],
                    ["vibestatus-pid-of-a-shell"]
                )
            ]
        ),
        // VibeStatus's menu-bar app between 1.6 and 1.8, in a terminal where the hook finds no process that lives on.
        Profile(
            "before-99a4875",
            of: .vibestatusMac,
            [
                Divergence(
                    "B8",
                    "ends a session whose process is gone after a minute",
                    [.processHasEndedAfterAMinute],
                    ["vibestatus-process-sits-deeper"]
                )
            ]
        ),
        // VibeStatus's menu-bar app of version 1.8.
        Profile(
            "1.8",
            of: .vibestatusMac,
            [
                Divergence(
                    "B6",
                    "shows a session for five minutes after its last write",
                    [.sessionsLastFiveMinutes],
                    ["vibestatus-idle-tab"]
                )
            ]
        ),
        // VibeStatus's iOS app, whose Mac waited two seconds before each upload and looked every second.
        Profile(
            "draft-1",
            of: .vibestatusPhone,
            [
                Divergence(
                    "B1",
                    "gets nothing: each look at the files ends the wait for the upload before",
                    [.nothingIsUploaded],
                    ["vibestatus-upload-comes-late"]
                )
            ]
        ),
        // VibeStatus's iOS app, whose Mac saved records without fetching them first.
        Profile(
            "draft-2",
            of: .vibestatusPhone,
            [
                Divergence(
                    "B4",
                    "gets the first status of each session",
                    [.firstStatusStays],
                    ["vibestatus-first-status-sticks"]
                )
            ]
        ),
        // VibeStatus's iOS app at the first public commit.
        Profile(
            "943a3d8",
            of: .vibestatusPhone,
            [
                Divergence(
                    "B5",
                    "hears of an end where ten sessions are left, or none",
                    [.endsAreUploadedByTens],
                    ["vibestatus-ended-among-two"]
                ),
                Divergence("B12", "finds no prompt", [.noPromptIsFound], ["vibestatus-prompt-pending-in-the-cloud"]),
            ]
        ),
        // VibeStatus's iOS app before prompts were removed.
        Profile(
            "before-af07be7",
            of: .vibestatusPhone,
            [
                Divergence(
                    "B13",
                    "has each text of a prompt's file as a prompt that stays",
                    [.everyPromptStays],
                    ["vibestatus-prompts-of-eight-days"]
                )
            ]
        ),
        // VibeStatus's iOS app, whose Mac needs three seconds to save a record.
        Profile(
            "slow",
            of: .vibestatusPhone,
            [
                Divergence(
                    "V10, B3, B15",
                    "never gets a status that comes within a save",
                    [.changeDuringASaveIsLost],
                    ["vibestatus-noted-before-it-is-sent"]
                )
            ]
        ),
        // VibeStatus's iOS app, whose Mac has no iCloud when a prompt comes.
        Profile(
            "offline",
            of: .vibestatusPhone,
            [
                Divergence(
                    "V21, B14",
                    "gets no prompt, though its file is taken away",
                    [.promptIsNotUploaded],
                    ["vibestatus-prompt-lost-on-the-way"]
                )
            ]
        ),
        // VibeStatus's iOS app of somebody with a second Mac, which has none of these sessions.
        Profile(
            "two-macs",
            of: .vibestatusPhone,
            [
                Divergence(
                    "V6, B17",
                    "has a session for ten seconds after its upload",
                    [.anotherMacCleansUp],
                    ["vibestatus-one-mac-deletes-the-others"]
                )
            ]
        ),
    ]
}
