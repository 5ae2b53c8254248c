#!/usr/bin/env python3
"""Runs `logtool record` with all recorders against servers that fail by a seeded plan, kills it again and again, and
compares what the log says in the end with what the servers know.

Exit code 1 where a difference is covered by no gap, something stands twice in the log, or the log is damaged.
"""
import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

import check
from gateway import Gateway
from github import BRANCH, GitHub
from items import Items
from net import Faults, answer, read_request
from realtime import TABLES, Realtime
from vibestatus import CloudKit, StatusFiles

TOKEN = "tok-0123456789abcdef"
CONFIGURATION = """
logs:
  - path: soak.eventlog
    sources:
      - {{kind: github, address: o/r, as: vibe, branch: {branch}, api: "http://{host}", token-env: TOKEN, interval: 2s}}
      - {{kind: gateway, address: "ws://{host}/gateway", as: chat, token-env: TOKEN}}
      - {{kind: realtime, address: "ws://{host}/realtime/v1/websocket", as: rows, tables: [{tables}], token-env: TOKEN}}
      - {{kind: sse, address: "http://{host}/subscribe/%23work", as: list}}
      - {{kind: status, address: files, as: files}}
      - {{kind: cloudkit, address: iCloud.test, as: cloud, api: "http://{host}", token-file: web, api-key-env: TOKEN}}
"""


class World:
    """All servers, and when each entity was changed last."""

    def __init__(self, seed, speed, folder):
        self.touched, self.lost = {}, {}
        self.chat = Gateway(self, seed, speed, TOKEN)
        self.rows = Realtime(self, seed, TOKEN)
        self.vibe = GitHub(self, seed, TOKEN)
        self.list = Items(self, seed)
        self.files = StatusFiles(self, seed, os.path.join(folder, "files"))
        self.cloud = CloudKit(self, seed, os.path.join(folder, "web"))
        self.all = [self.chat, self.rows, self.vibe, self.list, self.files, self.cloud]

    def touch(self, source, kind, id):
        self.touched[source, kind, id] = time.time()

    def lose(self, source, kind, id):
        """Notes that what was sent of an entity never arrived."""
        self.lost.setdefault((source, kind, id), []).append(time.time())

    def instants(self, key):
        """When what the log has of an entity may have become wrong."""
        return [self.touched[key]] + self.lost.get(key, [])

    async def serve(self, reader, writer):
        """One connection, whatever comes on it."""
        goes_on = True
        try:
            while goes_on:
                request = await read_request(reader)
                goes_on = request is not None and await self.route(request, reader, writer)
        except (asyncio.CancelledError, asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()

    async def route(self, request, reader, writer):
        for prefix, serve in (("/gateway", self.chat.serve), ("/realtime", self.rows.serve), ("/subscribe", self.list.serve)):
            if request.path.startswith(prefix):
                return await serve(request, reader, writer)
        rest = {"/api": self.chat, "/rest": self.rows, "/repos": self.vibe, "/database": self.cloud}
        server = rest.get("/" + request.path.split("/")[1])
        return await server.rest(request, writer) if server else await answer(writer, self.chat.faults, 404)

    def connections(self, source):
        return {"chat": self.chat, "rows": self.rows, "list": self.list}[source].connections

    def truth(self):
        """What is so, by source, kind and id."""
        true = {}
        for id, channel in self.chat.channels.items():
            true["chat", "channel", str(id)] = {"name": channel["name"]}
        for id, message in self.chat.messages.items():
            true["chat", "message", str(id)] = {
                "channel": message["channel_id"], "content": message["content"], "author": message["author_id"],
            }
        for reaction in self.chat.reactions:
            true["chat", "reaction", "/".join(reaction)] = {}
        for table, rows in self.rows.rows.items():
            for id, row in rows.items():
                true["rows", table, id] = row
        for path, text in self.vibe.files.items():
            channel, name = path.split("/")
            if name.endswith(".md"):
                body = text.split("\n---\n", 1)[1].strip()
                true["vibe", "message", name[:-3]] = {"channel": channel, "content": body, "author": "ann"}
        items = [(ticket["id"], ticket["title"], ticket["status"]) for ticket in self.list.tickets]
        true["list", "list", ""] = {"items": items}
        for name, session in self.files.sessions.items():
            values = {"status": session["state"], "project": session["project"]}
            true["files", "session", name] = dict(values, timestamp=session["timestamp"], pid=session["pid"])
        for name, record in self.cloud.records["Session"].items():
            true["cloud", "Session", name] = {"status": record["fields"]["status"]["value"], "project": "garden"}
        for name, record in self.cloud.records["Prompt"].items():
            state = "answered" if record["fields"]["responded"]["value"] else "pending"
            true["cloud", "Prompt", name] = {"text": record["fields"]["promptMessage"]["value"], "state": state}
        return true

    def end_faults(self):
        """No fault comes from now on; what was lost without a word shows with the next connection."""
        Faults.on = False
        for server in (self.chat, self.rows, self.list):
            for stream in server.connections.values():
                stream.drop()

    def act_last(self):
        """One change of everything, which nothing disturbs."""
        self.chat.post("the last")
        for table in TABLES:
            self.rows.change(table, "INSERT")
        self.vibe.write(self.vibe.fresh_path(), "Message from ann")
        self.list.changed()
        self.files.write(self.files.fresh_name())
        self.cloud.save("Session")


class Recorder:
    """The program, which is killed and started again."""

    def __init__(self, options, folder):
        arguments = [options.logtool, "record", "--config", "soak.yaml", "--speed", str(options.speed)]
        self.arguments, self.folder = arguments, folder
        self.messages = open(os.path.join(folder, "messages"), "w")
        self.kills = 0
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            self.arguments, cwd=self.folder, env=dict(os.environ, TOKEN=TOKEN), stderr=self.messages
        )

    async def end(self, number):
        self.process.send_signal(number)
        return await asyncio.to_thread(self.process.wait)

    async def kill(self):
        await self.end(signal.SIGKILL)
        self.kills += 1
        self.start()


async def disturb(world, recorder, seed, seconds):
    """The plan: changes everywhere, and kills at instants of its own."""
    plan = random.Random("%s/plan" % seed)
    start = time.monotonic()
    kills = sorted(plan.uniform(0.15, 0.9) * seconds for _ in range(max(2, int(seconds / 3))))
    while time.monotonic() - start < seconds:
        plan.choice(world.all).act()
        await asyncio.sleep(plan.expovariate(1 / 0.008))
        if kills and time.monotonic() - start > kills[0]:
            kills.pop(0)
            await recorder.kill()


async def settle(world, reader, deadline):
    """Waits until the recorder has caught up: every difference is covered, and no gap is open."""
    while True:
        # On a busy machine reading takes long: nothing counts as too late that was not looked at after the deadline.
        is_late = time.monotonic() > deadline
        try:
            status = await asyncio.to_thread(reader.json, "status")
            waits = check.waits(status, len(world.all))
            if not waits or is_late:
                gaps = await asyncio.to_thread(reader.json, "gaps")
                found = check.differences(world, await asyncio.to_thread(reader.json, "replay"))
                wrong = [each for each in found if not check.covered(each, world.instants(each.key), gaps)]
                if not waits and not wrong or is_late:
                    return found, waits + [describe(each, world, gaps) for each in wrong], gaps
        except RuntimeError as error:
            return [], ["the log cannot be read: %s" % error], []
        await asyncio.sleep(0.1)


def describe(difference, world, gaps):
    key = difference.key
    near = [gap for gap in gaps if gap["source"] == key[0] and abs(check.instant(gap["from"]) - world.touched[key]) < 5]
    spans = ["%s to %s (%s)" % (gap["from"], gap.get("to", "now"), gap["reason"]) for gap in near]
    changed = time.strftime("%H:%M:%S", time.gmtime(world.touched[key])) + ("%.6f" % (world.touched[key] % 1))[1:]
    return "no gap covers: %s; changed %s; gaps near: %s" % (difference, changed, ", ".join(spans) or "none")


async def run(options, folder):
    world = World(options.seed, options.speed, folder)
    server = await asyncio.start_server(world.serve, "127.0.0.1", 0, limit=1 << 20)
    host = "127.0.0.1:%d" % server.sockets[0].getsockname()[1]
    with open(os.path.join(folder, "soak.yaml"), "w") as file:
        file.write(CONFIGURATION.format(host=host, branch=BRANCH, tables=", ".join(TABLES)))
    recorder = Recorder(options, folder)
    try:
        return await record(options, folder, world, recorder)
    finally:
        recorder.process.kill()


async def record(options, folder, world, recorder):
    await disturb(world, recorder, options.seed, options.seconds)
    world.end_faults()
    world.act_last()
    reader = check.LogReader(options.logtool, os.path.join(folder, "soak.eventlog"))
    found, faults, gaps = await settle(world, reader, time.monotonic() + options.patience)
    code = await recorder.end(signal.SIGTERM)
    if code != 143:
        faults.append("the recorder ended with %d" % code)
    events = []
    try:
        reader.run("verify", reader.log)
        events = reader.events()
        doubles, connections = check.doubled(events, world)
        faults += doubles
    except RuntimeError as error:
        faults.append(str(error))
    report(options, recorder, events, found, gaps, faults)
    return faults


def report(options, recorder, events, found, gaps, faults):
    kinds = ", ".join("%s %d" % pair for pair in sorted(Faults.counts.items()))
    print("seed %s, %g s at speed %g" % (options.seed, options.seconds, options.speed))
    print("%d faults: %s" % (sum(Faults.counts.values()), kinds))
    counts = len(events), len(gaps), len(found)
    print("%d kills, %d events, %d gaps, %d differences" % ((recorder.kills,) + counts))
    for fault in faults[:20]:
        print("wrong: " + fault[:1000])
    if len(faults) > 20:
        print("and %d more" % (len(faults) - 20))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logtool", required=True, help="the program")
    parser.add_argument("--seed", default="1", help="what decides everything but the timing")
    parser.add_argument("--seconds", type=float, default=6, help="how long there are faults")
    parser.add_argument("--speed", type=float, default=20, help="how much faster than theirs all clocks run")
    parser.add_argument("--patience", type=float, default=45, help="how long catching up may take, in seconds")
    parser.add_argument("--keep", action="store_true", help="leave the folder there")
    options = parser.parse_args()
    options.logtool = os.path.abspath(options.logtool)
    folder = tempfile.mkdtemp(prefix="soak-")
    faults = asyncio.run(run(options, folder))
    if options.keep or faults:
        print("everything is in " + folder)
    else:
        subprocess.run(["rm", "-r", folder])
    sys.exit(1 if faults else 0)


main()
