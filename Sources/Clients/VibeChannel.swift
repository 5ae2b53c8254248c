import Projections

extension Profile {
    /// VibeChannel's iOS app, which reads message files from the GitHub API line by line.
    public static let vibechannelIOS = Profile(
        "vibechannel-ios",
        of: "VibeChannel",
        [
            Divergence(
                "VC-D01",
                "drops a message whose date is JavaScript's text",
                [.datesAreISOAlone],
                ["vibechannel-edit-writes-local-date"]
            ),
            Divergence(
                "VC-D02 to VC-D13",
                "takes no date but RFC 3339 in upper case with a zone",
                [.datesAreISOAlone],
                ["vibechannel-dates-of-every-kind"]
            ),
            Divergence(
                "VC-D14",
                "takes no other `edited` either",
                [.datesAreISOAlone],
                ["vibechannel-dates-of-every-kind"]
            ),
            Divergence(
                "VC-D15 to VC-D17, VC-D19 to VC-D26",
                "takes the text behind the first colon of a line, quotes at its ends cut",
                [.keysAreReadByLine],
                ["vibechannel-authors-as-written"]
            ),
            Divergence(
                "VC-D27, VC-D28, VC-D35, VC-D37, VC-D38",
                "knows no YAML: last key wins, indentation means nothing, CR ends a line",
                [.keysAreReadByLine],
                ["vibechannel-front-matter-borders"]
            ),
            Divergence(
                "VC-D29 to VC-D34, VC-D36",
                "cuts the file at every `---`",
                [.fileIsCutAtDashes],
                ["vibechannel-front-matter-borders"]
            ),
            Divergence(
                "VC-D42 to VC-D51",
                "reads lists from the lines themselves",
                [.listsAreReadByLine],
                ["vibechannel-lists-two-readings"]
            ),
            Divergence(
                "VC-D52, VC-D54",
                "shows no mark of a reply without a live parent",
                [.lostParentsAreNotShown],
                ["vibechannel-replies-by-file-name"]
            ),
            Divergence(
                "VC-D53, VC-D55",
                "takes every `.md` out of names; two files can be one message",
                [.suffixIsCutEverywhere],
                ["vibechannel-replies-by-file-name"]
            ),
            Divergence(
                "VC-D56",
                "trims what Foundation calls white space",
                [.bodyIsTrimmedBySwift],
                ["vibechannel-spaces-at-the-ends"]
            ),
            Divergence(
                "VC-D57",
                "is silent about a file that it cannot read",
                [.faultsAreNotTold],
                ["vibechannel-front-matter-borders"]
            ),
            Divergence(
                "VC-D58",
                "is listed the first 1,000 files of a folder; message files are counted alone",
                [.foldersAreListedInPart],
                ["vibechannel-more-files-than-are-listed"]
            ),
            Divergence(
                "VC-D59",
                "cannot fetch a file over 1 MB",
                [.largeFilesAreNotFetched],
                ["vibechannel-file-too-large-to-fetch"]
            ),
            Divergence(
                "(both clients)",
                "ignores unknown keys",
                [.unknownKeysAreIgnored],
                ["vibechannel-front-matter-borders"]
            ),
            Divergence(
                "(VC-B10)",
                "knows a message by its file's name: one of that name in another channel takes its place",
                [.fileNameIsTheKey],
                ["vibechannel-same-name-in-two-channels"]
            ),
        ]
    )

    /// VibeChannel's VS Code extension, which reads message files by a YAML reader and JavaScript's `Date`.
    public static let vibechannelVSCode = Profile(
        "vibechannel-vscode",
        of: "VibeChannel",
        [
            Divergence(
                "VC-D09, VC-D11, VC-D12, VC-D14",
                "takes what V8's `Date` makes of the value, to the millisecond",
                [.datesAreOfAnyValue],
                ["vibechannel-dates-of-every-kind", "vibechannel-dates-that-run-over"]
            ),
            Divergence(
                "VC-D16, VC-D17, VC-D18, VC-D22, VC-D37, VC-D48",
                """
                reads what js-yaml 3.14.2 reads, of YAML 1.1, and makes JavaScript's texts of numbers, \
                dates, truth values, lists and maps; what is false to JavaScript is absent
                """,
                [.scalarsHaveTypes],
                [
                    "vibechannel-authors-as-written", "vibechannel-lists-two-readings",
                    "vibechannel-values-of-every-type",
                ]
            ),
            Divergence(
                "VC-D32, VC-D36",
                """
                takes an unclosed file whole, and reads the language that its first line names: YAML, JSON, \
                literals of JavaScript (code, which the extension would run, is never run)
                """,
                [.openFrontMatterIsWhole],
                ["vibechannel-front-matter-borders", "vibechannel-values-of-every-type"]
            ),
            Divergence(
                "VC-D44",
                "keeps the empty parts of a text with commas",
                [.listsKeepEmptyParts],
                ["vibechannel-lists-two-readings"]
            ),
            Divergence(
                "VC-D53",
                "finds no parent without `.md` (shown as `./NAME`)",
                [.replyNamesAWholeFile],
                ["vibechannel-replies-by-file-name"]
            ),
            Divergence(
                "VC-D56",
                "trims what JavaScript calls white space",
                [.bodyIsTrimmedByJavaScript],
                ["vibechannel-spaces-at-the-ends"]
            ),
            Divergence(
                "(both clients)",
                "ignores unknown keys",
                [.unknownKeysAreIgnored],
                ["vibechannel-front-matter-borders"]
            ),
        ]
    )

    /// The profiles of VibeChannel: its clients, then their variants.
    static let vibeChannel: [Profile] = [
        .vibechannelIOS, .vibechannelVSCode,
        // VibeChannel's iOS app with one channel open; it reloads only that channel.
        Profile(
            "open",
            of: .vibechannelIOS,
            [
                Divergence(
                    "VC-B07",
                    """
                    shows no new channel, and nothing of channels that are not open; the channel that the first \
                    commit with one brings is taken for the open one
                    """,
                    [.oneChannelIsReloaded],
                    ["vibechannel-new-channel-with-a-message"]
                ),
                Divergence(
                    "VC-B06",
                    "gets the old listing from its cache for a minute after a reload",
                    [.listingsAreAMinuteOld],
                    ["vibechannel-listing-from-the-cache"]
                ),
                Divergence(
                    "VC-B05",
                    """
                    does not repeat a reload that failed; one fails where a request of the recorder's just \
                    before failed with 5xx
                    """,
                    [.failedReloadIsNotRepeated],
                    ["vibechannel-reload-fails-once"]
                ),
            ]
        ),
        // VibeChannel's iOS app of the user who wrote the first message, while one of the user's calls returns after a
        // reload.
        Profile(
            "sender",
            of: .vibechannelIOS,
            [
                Divergence(
                    "VC-B04",
                    "keeps the message that he deletes until the next reload",
                    [.ownDeletionIsKept],
                    ["vibechannel-own-deletion-is-an-error"]
                ),
                Divergence(
                    "VC-B03",
                    "shows the files and images that his edit drops, until the next reload",
                    [.ownEditKeepsWhatItDrops],
                    ["vibechannel-edit-drops-the-images"]
                ),
                Divergence(
                    "VC-B09",
                    "shows twice what he sends, until the next reload, where the poll is faster than the call",
                    [.ownMessageStandsTwice],
                    ["vibechannel-own-message-twice"]
                ),
            ]
        ),
        // VibeChannel's iOS app when it opens a channel that it fetched within the last minute.
        Profile(
            "cached",
            of: .vibechannelIOS,
            [
                Divergence(
                    "VC-B11",
                    "has the newest 500 messages",
                    [.newestFiveHundredAreCached],
                    ["vibechannel-more-files-than-are-listed"]
                )
            ]
        ),
        // VibeChannel's iOS app of December 2025, which reads rows of Supabase.
        Profile(
            "8d7d290",
            of: .vibechannelIOS,
            [
                Divergence(
                    "VC-S5",
                    "passes over a deletion without `channel_id`",
                    [.keyOnlyDeletionIsNotRead],
                    ["vibechannel-row-deleted-by-its-key"]
                ),
                Divergence(
                    "VC-S8",
                    "has the oldest hundred rows of an answer",
                    [.oldestHundredAreListed],
                    ["vibechannel-oldest-hundred-rows"]
                ),
            ]
        ),
        // VibeChannel's extension with a git that refuses to pull a branch that has diverged from the local one.
        Profile(
            "parted",
            of: .vibechannelVSCode,
            [
                Divergence(
                    "VC-B12",
                    "stays with its own line where the branch has parted: pulls nothing of others, and no merge",
                    [.partedBranchIsNotPulled],
                    ["vibechannel-two-send-at-once"]
                )
            ]
        ),
        // VibeChannel's extension of the user whose pull meets conflicts.
        Profile(
            "resolving",
            of: .vibechannelVSCode,
            [
                Divergence(
                    "VC-B16",
                    "is not told of what came with a merge in which conflicts were resolved, before the next change",
                    [.resolvedConflictIsNotTold],
                    ["vibechannel-conflict-resolved-in-silence"]
                )
            ]
        ),
        // VibeChannel's extension, whose git takes more than ten seconds.
        Profile(
            "slow",
            of: .vibechannelVSCode,
            [
                Divergence(
                    "VC-B29",
                    """
                    does not get, before the next change, what comes within ten seconds of another change: the \
                    polls overlap, and one fails
                    """,
                    [.pollDuringAnotherFails],
                    ["vibechannel-two-polls-overlap"]
                )
            ]
        ),
    ]
}
