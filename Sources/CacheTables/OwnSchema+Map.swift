/// The maps that fill the tables of the SQL.
extension OwnSchema {
    /// The map of the table of events, as it is alone.
    static var eventsMap: String { "tables:\n" + eventsTable }

    /// The member of `tables` that fills the table of events.
    package static let eventsTable = """
          events:
            from: events
            columns:
              sequence: {from: sequence, as: integer}
              recorded_at: recordedAt
              source: source
              kind: kind
              key: key
              attributes: {from: attributes, as: json}
              redacted: {from: redacted, default: 0}
              bytes: bytes
              payload: payload

        """

    /// The map that fills the tables of `sql` from the state's lists. Columns without `as` store texts and numbers as
    /// they are.
    package static let map = """
        meta: meta
        tables:
          sources:
            from: sources
            columns: {source: source, recorded_at: recordedAt, remote_time: remoteTime, tip: tip}
          guilds:
            from: guilds
            columns: {source: source, id: id, name: name, owner: owner, joined: joined}
          channels:
            from: channels
            columns:
              source: source
              id: id
              name: name
              kind: kind
              guild: guild
              topic: topic
              position: position
              parent: parent
              recipients: {from: recipients, as: json}
          messages:
            from: messages
            key: [source, channel, id]
            columns:
              source: source
              channel: channel
              id: id
              sort: order
              author: author
              author_name: authorName
              created_at: createdAt
              edited_at: editedAt
              content: content
              revisions: revisions
              reply_to: replyTo.id
              reply_state: replyTo.state
              tags: {from: tags, as: json}
              files: {from: files, as: json}
              images: {from: images, as: json}
              extra: {from: extra, as: json}
              compacted: compacted
          replies:
            from: messages
            needs: replyTo.id
            columns: {source: source, channel: channel, child: id, parent: replyTo.id, parent_state: replyTo.state}
          attachments:
            from: messages.attachments
            columns:
              source: source
              channel: channel
              message: id
              place: place
              attachment: {from: attachments, as: json}
          reactions:
            from: messages.reactions.users
            columns: {source: source, channel: channel, message: id, emoji: reactions.emoji, user: reactions.users}
          deleted_messages:
            from: deletedMessages
            columns:
              source: source
              channel: channel
              id: id
              cause: cause
              sequence: {from: sequence, as: integer}
              deleted_at: deletedAt
              deleted_by: deletedBy
              author: author
              created_at: createdAt
              content: content
              compacted: compacted
          message_revisions:
            from: messageHistory
            key: [source, channel, id, number]
            columns:
              source: source
              channel: channel
              id: id
              number: number
              sequence: {from: sequence, as: integer}
              recorded_at: recordedAt
              remote_time: remoteTime
              change: change
              by: by
              late: late
              version: version
              versions: of
              author: fields.author
              edited_at: fields.editedAt
              content: fields.content
              reply_to: fields.replyTo
              cause: fields.cause
              moved_from: {from: fields.from, as: json}
              moved_to: {from: fields.to, as: json}
          members:
            from: members
            columns: {source: source, guild: guild, user: user, nickname: nickname, roles: {from: roles, as: json}}
          roles:
            from: roles
            columns:
              source: source
              guild: guild
              id: id
              name: name
              permissions: permissions
              position: position
              color: color
          bans:
            from: bans
            columns: {source: source, guild: guild, user: user}
          presences:
            from: presences
            columns: {source: source, user: user, status: status}
          typing:
            from: typing
            columns: {source: source, channel: channel, user: user, until: until}
          voice_states:
            from: voiceStates
            columns: {source: source, guild: guild, user: user, channel: channel}
          read_states:
            from: readStates
            columns: {source: source, channel: channel, last_message: lastMessage}
          items:
            from: items
            key: [source, list, id]
            columns:
              source: source
              list: list
              id: id
              position: position
              text: text
              done: done
              status: status
              created: created
              extra: {from: extra, as: json}
          item_changes:
            from: itemHistory
            columns:
              source: source
              list: list
              id: id
              number: number
              sequence: {from: sequence, as: integer}
              recorded_at: recordedAt
              remote_time: remoteTime
              change: change
              kinds: {from: kinds, as: json}
              by: by
              fields: {from: fields, as: json}
          sessions:
            from: sessions
            columns:
              source: source
              id: id
              project: project
              status: status
              timestamp: timestamp
              pid: pid
              device: device
              state: state
              stale: stale
          session_transitions:
            from: sessionHistory
            columns:
              source: source
              id: id
              number: number
              sequence: {from: sequence, as: integer}
              recorded_at: recordedAt
              remote_time: remoteTime
              change: change
              status: fields.status
              project: fields.project
              fields: {from: fields, as: json}
          session_aggregates:
            from: sessionAggregates
            columns: {source: source, status: status}
          prompts:
            from: prompts
            columns:
              source: source
              id: id
              session: session
              project: project
              text: text
              asked_at: askedAt
              state: state
              answer: answer
              answered_at: answeredAt
          rows:
            from: rows
            columns:
              source: source
              table: table
              id: id
              state: state
              record: {from: record, as: json}
              unknown_columns: {from: unknownColumns, as: json}
              stale_columns: {from: staleColumns, as: json}
          row_changes:
            from: rowHistory
            columns:
              source: source
              table: table
              id: id
              number: number
              sequence: {from: sequence, as: integer}
              recorded_at: recordedAt
              remote_time: remoteTime
              change: change
              kinds: {from: kinds, as: json}
              late: late
              version: version
              versions: of
              fields: {from: fields, as: json}
              known: {from: known, as: json}
          notes_tree:
            from: notes
            columns:
              source: source
              parent: parent
              place: place
              kind: kind
              name: name
              path: path
              note: note
              pinned: pinned
          issues:
            from: issues
            key: [sequence, source, reason]
            columns:
              sequence: {from: sequence, as: integer}
              source: source
              reason: reason
              count: {from: count, default: 1}

        """
}
