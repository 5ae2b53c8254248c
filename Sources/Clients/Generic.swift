import Projections

extension Profile {
    /// What the readings of any app have as their app.
    static let anyApp = "any app"

    /// The readings of any app, for sources that decoder files read: each departs from the canonical reading in one way in
    /// which clients of several apps were found to go wrong.
    ///
    /// A reading is a function of the events and the decoder file. Its rules are about changes, never about payloads; where they
    /// find nothing to do, its state is the canonical one.
    static let generic: [Profile] = [
        reading(
            "appends-repeats",
            "adds a message again that is stated again as it is shown, or made again (`ID#2`, to `ID#16`)",
            .statedAgainIsAdded,
            as: "Retrocast B2, B3, B5, B8, B12, B29, B33; VibeChannel VC-B09",
            "any-message-again-after-a-reconnect"
        ),
        reading(
            "arrival-order-wins",
            "takes the version of a message or item that arrives later, though it is older",
            .lateVersionReplaces,
            as: "Retrocast B10, B20; sideBar C1, C7",
            "any-older-version-arrives-later"
        ),
        reading(
            "late-delete-lost",
            "forgets the deletion of a message, item or event that it does not show",
            .deletionOfUnseenIsForgotten,
            as: "Retrocast B11",
            "any-delete-before-its-message"
        ),
        reading(
            "edit-of-unseen-creates",
            "makes a message of the edit of one that it never had",
            .editOfUnseenMakesAMessage,
            as: "Retrocast B10, B19",
            "any-edit-of-an-unseen-message"
        ),
        reading(
            "snapshot-never-removes",
            "keeps what a snapshot leaves out",
            .snapshotRemovesNothing,
            as: "sideBar C5, C33; Punchlist PL-B19, PL-B32",
            "any-snapshot-leaves-something-out"
        ),
        reading(
            "reset-on-reconnect",
            "drops what it shows when a connection opens",
            .openingDropsWhatIsShown,
            as: "Punchlist PL-B04; Retrocast B34",
            "any-message-again-after-a-reconnect"
        ),
        reading(
            "patch-replaces",
            "loses the members of a message, channel or item that a patch does not name",
            .patchReplacesTheWhole,
            as: "sideBar C11, C31; VibeChannel VC-B03",
            "any-patch-of-some-members"
        ),
        reading(
            "revives-deleted",
            "shows a deleted message, channel or item again that is stated again",
            .deletedComesBack,
            as: "Retrocast B11; sideBar C6; VibeChannel VC-B14",
            "any-deleted-message-stated-again"
        ),
        reading(
            "reply-to-missing-dropped",
            "drops a reply to a message that it does not show",
            .replyToMissingIsDropped,
            as: "VibeChannel VC-B11",
            "any-reply-before-its-message"
        ),
        reading(
            "reactions-count-repeats",
            "counts a reaction again that is told again (`USER#2`, to `USER#16`)",
            .reactionsAreCounted,
            as: "Retrocast B21",
            "any-reaction-told-twice"
        ),
        reading(
            "listed-by-arrival",
            "lists messages in the order in which they came",
            .messagesAreListedAsTheyCame,
            as: "Retrocast B10; VibeChannel VC-B25",
            "any-reply-before-its-message"
        ),
        reading(
            "ignores-deletes",
            "passes over deletions",
            .deletionsAreIgnored,
            as: "VibeChannel VC-B04, VC-S5; Retrocast B16",
            "any-deleted-message-stated-again"
        ),
        reading(
            "ignores-edits",
            "keeps the first version of a message or item that it shows",
            .editsAreIgnored,
            as: "VibeStatus B4; sideBar C12",
            "any-patch-of-some-members"
        ),
        reading(
            "never-asks-again",
            "reads no answer after a second connection opened",
            .answersCountUntilAReconnect,
            as: "Retrocast B13, B27, B28; Punchlist PL-B21, PL-B22, PL-B23; sideBar C19",
            "any-answer-after-a-reconnect"
        ),
    ]

    private static func reading(
        _ name: String,
        _ client: String,
        _ rule: ReadingRule,
        as bugs: String,
        _ scenario: String
    ) -> Profile {
        Profile(name, of: anyApp, [Divergence(bugs, client, [rule], [scenario])])
    }
}
