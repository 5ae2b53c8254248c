import Projections

extension Profile {
    /// Punchlist's iOS app, which splits the stream by itself and replaces its list by what it can read.
    public static let punchlistIOS = Profile(
        "punchlist-ios",
        of: "Punchlist",
        [
            Divergence(
                "PL-D04",
                "takes an event without `data` for no list",
                [.emptyEventIsNoSnapshot],
                ["punchlist-last-item-leaves"]
            ),
            Divergence(
                "PL-D05 (stream)",
                "leaves out the ticket that it cannot read, and what the list lacks is gone",
                [.badTicketIsLeftOut],
                ["punchlist-bad-ticket-drops-out"]
            ),
            Divergence(
                "PL-D05 (array)",
                "keeps the old list",
                [.badElementFailsTheArray],
                ["punchlist-bad-element-freezes-the-list"]
            ),
            Divergence(
                "PL-D08",
                "passes over `data:` without a space",
                [.dataNeedsASpace],
                ["punchlist-stream-of-another-spelling"]
            ),
            Divergence(
                "PL-D09",
                "finds no line that ends in CR LF",
                [.linesEndInLFAlone],
                ["punchlist-stream-of-another-spelling"]
            ),
            Divergence(
                "PL-D11",
                "cannot read an item without title and creation time; one alone makes no list",
                [.itemNeedsTitleAndCreated, .emptyEventIsNoSnapshot],
                ["punchlist-bad-ticket-drops-out", "punchlist-only-ticket-without-title"]
            ),
            Divergence(
                "(PL-B07)",
                "cannot read an item with a question in other spelling",
                [.itemNeedsReadableQuestions],
                ["punchlist-questions-in-capitals"]
            ),
            Divergence(
                "(PL-B02, PL-B03, PL-B14, PL-B15, PL-B17)",
                "shows whatever list comes as that of the project viewed",
                [.anyListIsTheViewedOne],
                [
                    "punchlist-late-answer-after-a-switch", "punchlist-late-personal-list",
                    "punchlist-frame-of-the-old-stream", "punchlist-late-push-of-another-project",
                    "punchlist-default-pushed-after-a-reconnect",
                ]
            ),
        ]
    )

    /// The profiles of Punchlist: its clients, then their variants.
    static let punchlist: [Profile] = [
        .punchlistIOS,
        // Punchlist's iOS app while its stream is open.
        Profile(
            "open",
            of: .punchlistIOS,
            [
                Divergence(
                    "PL-B21 to PL-B25",
                    "asks for no list",
                    [.laterAnswersAreNotRead],
                    ["punchlist-closed-between-list-and-subscription"]
                )
            ]
        ),
        // Punchlist's iOS app that expected a repeat after each list that it asked for.
        Profile(
            "before-4bc21a3",
            of: .punchlistIOS,
            [
                Divergence(
                    "PL-B09",
                    "passes over the first event of the stream after a list that it asked for",
                    [.eventAfterAnAnswerIsSkipped],
                    ["punchlist-first-event-after-the-list"]
                )
            ]
        ),
        // Punchlist's iOS app that took the server's default project for the personal list.
        Profile(
            "before-45b2358",
            of: .punchlistIOS,
            [
                Divergence(
                    "PL-B05",
                    "asks for no project, and takes what comes for the personal list",
                    [.noProjectIsThePersonalList],
                    ["punchlist-default-becomes-another"]
                )
            ]
        ),
        // Punchlist's iOS app that viewed the personal list after each reconnect.
        Profile(
            "before-16741c1",
            of: .punchlistIOS,
            [
                Divergence(
                    "PL-B04",
                    "views the personal list after each reconnect, and shows no other",
                    [.reconnectShowsThePersonalList],
                    ["punchlist-thrown-back-to-the-personal-list"]
                )
            ]
        ),
        // Punchlist's iOS app that connected twice when it started.
        Profile(
            "before-03aff15",
            of: .punchlistIOS,
            [
                Divergence(
                    "PL-B06",
                    "drops what comes on the third connection, which is of the default project",
                    [.thirdConnectionIsOfTheDefault],
                    ["punchlist-third-connection-of-the-default"]
                )
            ]
        ),
        // Punchlist's iOS app that encoded the stream's address twice.
        Profile(
            "before-01044ab",
            of: .punchlistIOS,
            [
                Divergence(
                    "PL-B08",
                    "has no stream, for it asks for it under a name that is encoded twice",
                    [.streamIsNeverOpened],
                    ["punchlist-stream-under-an-encoded-name"]
                )
            ]
        ),
        // Punchlist's iOS app over a network that hands it 1,024 bytes at a time.
        Profile(
            "pieces",
            of: .punchlistIOS,
            [
                Divergence(
                    "PL-D10, PL-B18",
                    "loses two pieces of an event where one ends within a character",
                    [.piecesCutCharacters],
                    ["punchlist-pieces-cut-a-character"]
                )
            ]
        ),
    ]
}
