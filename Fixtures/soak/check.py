"""Compares what a log says with what the servers know."""
import datetime
import json
import subprocess

from net import Stream


class Difference:
    def __init__(self, source, kind, id, log, server):
        self.source, self.kind, self.id, self.log, self.server = source, kind, id, log, server
        self.key = source, kind, id

    def __str__(self):
        return "%s %s %s: the log has %s, the server %s" % (self.source, self.kind, self.id, self.log, self.server)


class LogReader:
    """The log as the program tells it."""

    def __init__(self, program, log):
        self.program, self.log = program, log

    def run(self, *arguments):
        done = subprocess.run([self.program] + list(arguments), capture_output=True)
        if done.returncode != 0:
            raise RuntimeError("logtool %s: %d: %s" % (" ".join(arguments), done.returncode, done.stderr.decode()))
        return done.stdout

    def json(self, command):
        return json.loads(self.run(command, self.log, "--json"))

    def events(self):
        """Every event of the log, in order."""
        lines = self.run("export", self.log).decode().splitlines()[1:]
        return [event for event in map(json.loads, lines) if "sequence" in event]


def differences(world, state):
    """What of each source's entities is not the same on both sides."""
    told, true = from_log(state), world.truth()
    found = []
    for key in sorted(set(told) | set(true)):
        if told.get(key) != true.get(key):
            stale = told.get(key, {}).pop("stale columns", []) if key in told and key in true else []
            if not stale or any(told[key].get(n) != v for n, v in true[key].items() if n not in stale):
                found.append(Difference(*key, told.get(key), true.get(key)))
    return found


def from_log(state):
    """The entities of a state document by source, kind and id."""
    entities = {}
    for channel in state["channels"]:
        if channel.get("kind") == "text":
            entities[channel["source"], "channel", channel["id"]] = {"name": channel.get("name")}
    for message in state["messages"]:
        entities[message["source"], "message", message["id"]] = {
            "channel": message["channel"], "content": message["content"], "author": message["author"],
        }
        for reaction in message.get("reactions", []):
            for user in reaction["users"]:
                entities[message["source"], "reaction", "/".join([message["id"], reaction["emoji"], user])] = {}
    items = [(item["id"], item["text"], item["status"]) for item in state["items"]]
    entities["list", "list", ""] = {"items": items}
    for each in state["sessions"]:
        kind = "session" if each["source"] == "files" else "Session"
        names = ["status", "project", "timestamp", "pid"] if kind == "session" else ["status", "project"]
        entities[each["source"], kind, each["id"]] = {name: each.get(name) for name in names}
    for each in state["prompts"]:
        entities[each["source"], "Prompt", each["id"]] = {"text": each["text"], "state": each["state"]}
    for row in state["rows"]:
        entity = dict(row["record"])
        if row.get("staleColumns"):
            entity["stale columns"] = row["staleColumns"]
        entities[row["source"], row["table"], row["id"]] = entity
    return entities


def waits(status, count):
    """What the recorder has still to do."""
    found = ["%s is not connected" % each["source"] for each in status if each.get("connected") is not True]
    found += ["%(source)s has %(gaps)d open gaps" % each for each in status if each["gaps"]]
    return found if len(status) == count else found + ["only %d sources are there" % len(status)]


def covered(difference, instants, gaps):
    """Whether a gap of the source holds the instant of the entity's last change, or one at which a frame of it was lost.

    A frame may have been written later than what it tells happened: by so much the gap may begin later.
    """
    lag = Stream.lags.get(difference.source, 0)
    for gap in gaps:
        if gap["source"] != difference.source:
            continue
        if gap.get("topic") and not gap["topic"].endswith(":" + difference.kind):
            continue
        start, end = instant(gap["from"]) - lag, instant(gap["to"]) if "to" in gap else float("inf")
        if any(start <= each <= end for each in instants):
            return True
    return False


def instant(text):
    """Seconds since 1970."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def doubled(events, world):
    """What stands in the log twice, or otherwise than it was sent."""
    faults, frames = [], {}
    for event in events:
        source, key, attributes = event["source"], event.get("key", ""), event.get("attributes", {})
        if "~" in key:
            faults.append("%s: the key %s holds two payloads" % (source, key))
        if event["kind"] in ("gateway.frame/1", "realtime.frame/1", "sse.event/1") and attributes.get("dir") != "out":
            frames.setdefault((source, attributes["connection"]), []).append(event["payload"])
    for (source, number), payloads in frames.items():
        faults += misplaced(source, number, payloads, world.connections(source))
    return faults, len(frames)


def misplaced(source, number, payloads, connections):
    """Frames of one connection must be the first of those that the server sent on it."""
    for name, stream in connections.items():
        marks = ('"%s"' % name, ": %s\n" % name)
        if any(mark in payload for payload in payloads for mark in marks):
            for place, payload in enumerate(payloads):
                if place >= len(stream.sent) or payload != stream.sent[place]:
                    return ["%s: frame %d of connection %s is not what %s sent" % (source, place + 1, number, name)]
    return []
