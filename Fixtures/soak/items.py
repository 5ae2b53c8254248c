"""A list over Server-Sent Events as Punchlist's server sends it: the whole list with each change, ids with holes, lists
that are dropped without a word."""
import asyncio
import json
import time

from net import Faults, Stream, answer, head

CHANCES = {"drop": 2, "half": 2, "stall": 1, "slow": 8}


class Items:
    def __init__(self, world, seed):
        self.world = world
        self.faults = Faults("list", seed)
        self.random = self.faults.random
        self.tickets, self.counter, self.count = [], 0, 0
        self.live = set()
        self.connections = {}
        for _ in range(5):
            self.add()

    # What people do

    def act(self):
        kind = self.random.choices(["add", "status", "title", "bump"], [30, 40, 20, 10])[0]
        if kind == "add" and len(self.tickets) < 60:
            self.add()
        else:
            ticket = self.random.choice(self.tickets)
            if kind == "bump":
                self.tickets.remove(ticket)
                self.tickets.insert(0, ticket)
            elif kind == "title":
                ticket["title"] = "Buy <milk> & größer %d" % self.random.randrange(10**6)
            else:
                ticket["status"] = self.random.choice(["open", "closed", "in_progress", "blocked"])
        self.changed()

    def add(self):
        id = "wrk-%04x" % (len(self.tickets) + 1)
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        ticket = {"id": id, "title": "Buy %d" % self.random.randrange(10**6), "status": "open", "type": "task"}
        self.tickets.insert(0, dict(ticket, priority=2, deps=[], created=now, modified=now, hasUnresolvedDep=False))
        return id

    def changed(self):
        # One number for each of two endpoints: holes are normal.
        self.counter += 2
        # The whole list is one thing: what of it was missed comes with the next one.
        self.world.touch("list", "list", "")
        if not self.faults.pick({"lost list": 3}):
            for stream in list(self.live):
                self.send(stream, self.counter - 1)

    # The stream

    def send(self, stream, id):
        lines = ["id: %d" % id] + ["data: " + escaped(ticket) for ticket in self.tickets]
        self.push(stream, "\n".join(lines) + "\n\n")

    def push(self, stream, text):
        data = text.encode()
        stream.push(text, b"%x\r\n%s\r\n" % (len(data), data))

    async def serve(self, request, reader, writer):
        if self.faults.pick({"500": 5}):
            return await answer(writer, self.faults, 500, b"query failed: database is locked\n")
        writer.write(head(200, [("Content-Type", "text/event-stream"), ("Cache-Control", "no-cache"), ("Transfer-Encoding", "chunked")]))
        stream = Stream(writer, self.faults, CHANCES)
        self.count += 1
        name = "sse-%d" % self.count
        self.connections[name] = stream
        self.push(stream, "retry: 3000\n: %s\n\n" % name)
        self.send(stream, 0)
        self.live.add(stream)
        writing = asyncio.create_task(stream.run())
        await reader.read()
        writing.cancel()
        self.live.discard(stream)
        stream.drop()
        return False


def escaped(ticket):
    """JSON as Go writes it."""
    text = json.dumps(ticket, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
