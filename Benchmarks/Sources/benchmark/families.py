"""The baseline of `benchmark families`: a state of dictionaries, made of a capture or of recorded commits with Python's own JSON reader."""

import json
import sys


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


kind, path = sys.argv[1:]
state = {}
with open(path, encoding="utf-8") as capture:
    for text in capture:
        for key, members in things(kind, text if kind == "git" else json.loads(text)):
            state.setdefault(key, {}).update(members)
print(len(state))
