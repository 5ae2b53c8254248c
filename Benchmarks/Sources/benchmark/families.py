"""The baselines of `benchmark families`, with Python's own JSON reader: a dictionary of whatever a capture or recorded commits name, and for a
chat (`fold`) the messages that a client would show, with their versions. Python 3.11 or later."""

import json
import sys
from datetime import datetime


def things(kind, line):
    if kind == "status":
        return [(line["path"], json.loads(line["raw"]))]
    if kind == "git":
        commit = json.loads(line)
        return [(commit["commit"], commit)] + [(file["path"], file) for file in commit["files"]]
    if kind == "sse":
        lines = [json.loads(text[6:]) for text in line["raw"].split("\n") if text.startswith("data: ")]
        tickets = lines[0] if isinstance(lines[0], list) else [said["ticket"] for said in lines]
        return [(ticket["id"], ticket) for ticket in tickets]
    payload = json.loads(line["raw"])
    if kind == "realtime":
        record = payload["payload"]["data"]["record"]
        return [(record["id"], record)]
    data = payload["d"]
    return [(data.get("id") or data["message_id"], data)]


class Message:
    """A message with its versions in order of arrival. The one that was edited last is current; a deletion is for ever."""

    __slots__ = ("versions", "current", "deleted")

    def __init__(self):
        self.versions, self.current, self.deleted = [], None, False


def fold(capture):
    """The messages of one gateway connection, by channel and id. A frame whose number does not grow is a repeat."""
    messages, last = {}, 0
    for text in capture:
        frame = json.loads(json.loads(text)["raw"])
        if frame["op"] != 0 or frame["s"] <= last:
            continue
        last, data = frame["s"], frame["d"]
        key = data["channel_id"], data["id"]
        message = messages.get(key)
        if message is None:
            message = messages[key] = Message()
        if frame["t"] == "MESSAGE_DELETE":
            message.deleted = True
            continue
        edited = data.get("edited_at")
        version = (
            datetime.fromisoformat(edited) if edited else None,
            datetime.fromisoformat(data["created_at"]),
            data["content"],
            data["author_id"],
            data.get("author_display_name") or data.get("author_username"),
            data.get("reply_to_id"),
        )
        message.versions.append((last, version))
        current = message.current
        if current is None or current[0] is None or version[0] is not None and version[0] >= current[0]:
            message.current = version
    return messages


def compare(messages, path):
    """Ends with 1 unless a state document (`logtool replay --json`) has the same messages."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)

    def time(text):
        return datetime.fromisoformat(text) if text else None

    live = {
        (row["channel"], row["id"]): (
            time(row.get("editedAt")), time(row["createdAt"]), row["content"], row["author"], row.get("authorName"), row.get("replyTo"),
        )
        for row in document["messages"]
    }
    gone = {(row["channel"], row["id"]): row.get("content") for row in document["deletedMessages"]}
    if live != {key: message.current for key, message in messages.items() if not message.deleted}:
        sys.exit("the live messages differ")
    if gone != {key: message.current and message.current[2] for key, message in messages.items() if message.deleted}:
        sys.exit("the deleted messages differ")


kind, path = sys.argv[1:3]
with open(path, encoding="utf-8") as capture:
    if kind == "fold":
        state = fold(capture)
    else:
        state = {}
        for text in capture:
            for key, members in things(kind, text if kind == "git" else json.loads(text)):
                state.setdefault(key, {}).update(members)
if sys.argv[3:]:
    compare(state, sys.argv[3])
print(len(state))
