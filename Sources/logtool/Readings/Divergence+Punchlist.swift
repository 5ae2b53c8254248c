import Projections

extension Divergence {
    /// Divergences of Punchlist's iOS app. A `…Before…` profile is the app before one of its fixes.
    static let punchlist: [Profile: [Divergence]] = [
        .punchlistIOS: [
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
        ],
        .punchlistIOSOpen: [
            Divergence(
                "PL-B21 to PL-B25",
                "asks for no list",
                [.laterAnswersAreNotRead],
                ["punchlist-closed-between-list-and-subscription"]
            )
        ],
        .punchlistIOSBeforeAll: [
            Divergence(
                "PL-B09",
                "passes over the first event of the stream after a list that it asked for",
                [.eventAfterAnAnswerIsSkipped],
                ["punchlist-first-event-after-the-list"]
            )
        ],
        .punchlistIOSBeforePersonal: [
            Divergence(
                "PL-B05",
                "asks for no project, and takes what comes for the personal list",
                [.noProjectIsThePersonalList],
                ["punchlist-default-becomes-another"]
            )
        ],
        .punchlistIOSBeforeViews: [
            Divergence(
                "PL-B04",
                "views the personal list after each reconnect, and shows no other",
                [.reconnectShowsThePersonalList],
                ["punchlist-thrown-back-to-the-personal-list"]
            )
        ],
        .punchlistIOSBeforeOneStart: [
            Divergence(
                "PL-B06",
                "drops what comes on the third connection, which is of the default project",
                [.thirdConnectionIsOfTheDefault],
                ["punchlist-third-connection-of-the-default"]
            )
        ],
        .punchlistIOSBeforeStream: [
            Divergence(
                "PL-B08",
                "has no stream, for it asks for it under a name that is encoded twice",
                [.streamIsNeverOpened],
                ["punchlist-stream-under-an-encoded-name"]
            )
        ],
        .punchlistIOSPieces: [
            Divergence(
                "PL-D10, PL-B18",
                "loses two pieces of an event where one ends within a character",
                [.piecesCutCharacters],
                ["punchlist-pieces-cut-a-character"]
            )
        ],
    ]
}
