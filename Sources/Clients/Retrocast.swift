import Projections

extension Profile {
    /// Retrocast's iOS app.
    public static let retrocastIOS = Profile(
        "retrocast-ios",
        of: "Retrocast",
        [
            Divergence(
                "D1, D2, D4",
                "wants the whole object of what is deleted, and drops the frame",
                [.deletionNeedsTheWholeObject],
                ["retrocast-deletions-by-number"]
            ),
            Divergence(
                "D3",
                "cannot decode a member whose roles are null",
                [.memberNeedsRoles],
                ["retrocast-members-and-their-roles"]
            ),
            Divergence(
                "D5",
                "passes over updates of members",
                [.memberUpdateIsIgnored],
                ["retrocast-members-and-their-roles"]
            ),
            Divergence("D6", "passes over roles", [.rolesAreIgnored], ["retrocast-deletions-by-number"]),
            Divergence(
                "D10, D23",
                "adds whatever is created, messages and channels; a second copy is `ID#2`",
                [.createAlwaysAdds, .repeatsAreReadAgain],
                ["retrocast-message-created-twice", "retrocast-channels-are-listed-twice"]
            ),
            Divergence(
                "D11",
                "leaves messages in the order of arrival",
                [.messagesStandAsTheyArrive],
                ["retrocast-messages-arrive-swapped"]
            ),
            Divergence(
                "D12",
                "does nothing on an update of an unseen message",
                [.unseenMessageIsNotUpdated],
                ["retrocast-update-of-an-unseen-message"]
            ),
            Divergence(
                "D13",
                "ends typing with the timer of the first frame",
                [.typingEndsWithItsFirstTimer],
                ["retrocast-typing-goes-on"]
            ),
            Divergence("D14", "does not store its user's own typing", [.ownTypingIsIgnored], ["retrocast-own-typing"]),
            Divergence(
                "D15",
                "leaves no guild on READY",
                [.readyTakesNoGuildAway],
                ["retrocast-ready-after-a-guild-went"]
            ),
            Divergence(
                "D17 to D19",
                "shows nobody who joins an empty voice channel, which all are at first",
                [.voiceIsNotShown],
                ["retrocast-voice-moves"]
            ),
            Divergence("D20", "passes over reactions", [.reactionsAreIgnored], ["retrocast-reactions-are-a-set"]),
            Divergence(
                "D21",
                "cannot decode channels of direct messages",
                [.directChannelsAreNotRead],
                ["retrocast-direct-messages"]
            ),
            Divergence(
                "(5.3, B11)",
                "has no tombstones: a deleted message comes back",
                [.deletedMessageComesBack],
                ["retrocast-create-edit-delete-out-of-order"]
            ),
        ] + ofBoth
    )

    /// Retrocast's web app.
    public static let retrocastWeb = Profile(
        "retrocast-web",
        of: "Retrocast",
        [
            Divergence(
                "D1, D2, D4, D6",
                "looks a number up among texts and finds nothing to delete",
                [.numbersNameNothing],
                ["retrocast-deletions-by-number"]
            ),
            Divergence(
                "D8",
                "rounds numbers as JavaScript does",
                [.numbersAreRounded],
                ["retrocast-members-and-their-roles"]
            ),
            Divergence(
                "D10, D23",
                "adds whatever is created, messages and channels",
                [.createAlwaysAdds, .repeatsAreReadAgain],
                ["retrocast-message-created-twice", "retrocast-channels-are-listed-twice"]
            ),
            Divergence(
                "D11",
                "leaves messages in the order of arrival",
                [.messagesStandAsTheyArrive],
                ["retrocast-messages-arrive-swapped"]
            ),
            Divergence(
                "D12",
                "has no message of an update alone",
                [.unseenMessageIsNotUpdated],
                ["retrocast-update-of-an-unseen-message"]
            ),
            Divergence(
                "D15",
                """
                has no guild but those of READY's list, or of the list that it asks for then, and keeps \
                their channels and messages
                """,
                [.guildsLeftAreGone],
                ["retrocast-ready-after-a-guild-went"]
            ),
            Divergence("D17 to D19", "has no voice states", [.voiceIsNotShown], ["retrocast-voice-moves"]),
            Divergence("D20", "passes over reactions", [.reactionsAreIgnored], ["retrocast-reactions-are-a-set"]),
            Divergence(
                "D21",
                "stores a channel of direct messages under the guild `undefined`, and deletes it from there",
                [.directChannelsAreOfNoKnownGuild],
                ["retrocast-direct-messages"]
            ),
            Divergence(
                "(5.3, B11)",
                "has no tombstones, and keeps the messages of a deleted channel",
                [.deletedMessageComesBack],
                ["retrocast-create-edit-delete-out-of-order", "retrocast-channels-are-listed-twice"]
            ),
        ] + ofBoth + [
            Divergence(
                "(all)",
                "checks no member but ids: what cannot be what it should be is absent",
                [.membersAreNotChecked],
                ["retrocast-members-of-another-type"]
            )
        ]
    )

    /// The profiles of Retrocast: its clients, then their variants.
    static let retrocast: [Profile] = [
        .retrocastIOS, .retrocastWeb,
        // Retrocast's iOS app, which fetches nothing when it connects again.
        Profile(
            "open",
            of: .retrocastIOS,
            [
                Divergence(
                    "B13, B27, B28",
                    "fetches nothing when it connects again",
                    [.laterAnswersAreNotRead],
                    ["retrocast-identifies-instead-of-resuming"]
                )
            ]
        ),
        // Retrocast's web app, which fetches no more than its guilds when it connects again.
        Profile(
            "open",
            of: .retrocastWeb,
            [
                Divergence(
                    "B1, B4, B9, B15, B17, B25, B35",
                    "fetches nothing else when it connects again",
                    [.laterAnswersAreNotRead],
                    ["retrocast-ring-overflows"]
                )
            ]
        ),
    ]

    /// Divergences that the iOS and the web client share.
    private static let ofBoth: [Divergence] = [
        Divergence(
            "(5.3, B20)",
            "takes the version that arrives later",
            [.laterVersionCounts],
            ["retrocast-create-edit-delete-out-of-order"]
        ),
        Divergence("(5.3)", "passes over bans", [.bansAreIgnored], ["retrocast-banned-but-still-listening"]),
        Divergence(
            "(5.3)",
            "ends an author's typing with the message",
            [.messageEndsTyping],
            ["retrocast-a-message-ends-typing"]
        ),
        Divergence(
            "(5.3)",
            "does nothing on an update of a channel that no frame created",
            [.unseenChannelIsNotUpdated],
            ["retrocast-channels-are-listed-twice"]
        ),
        Divergence("(5.3)", "has no read states", [.readStatesAreIgnored], ["retrocast-guilds-that-ready-lacks"]),
        Divergence(
            "(5.3)",
            "lists no guild because its user joined it, or takes one off because he left",
            [.ownMembershipIsNotFollowed],
            ["retrocast-guilds-that-ready-lacks"]
        ),
        Divergence(
            "(5.3)",
            "lists a guild that is updated",
            [.guildUpdateListsTheGuild],
            ["retrocast-guilds-that-ready-lacks"]
        ),
        Divergence(
            "D31, D32",
            """
            has of a channel what its first page says, in place of what was listed, and adds what comes \
            again in a frame
            """,
            [.answersReplaceLists],
            ["retrocast-page-and-frames-race"]
        ),
    ]
}
