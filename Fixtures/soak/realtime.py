"""A Phoenix server that behaves as Supabase's Realtime: joins, "subscribed" only later, no replay, large values left
out, changes that are skipped without a word; and PostgREST's rows."""
import asyncio
import json
import time
import uuid

from gateway import stamp
from net import Faults, WebSocket, answer

TABLES = ["notes", "websites"]
COLUMNS = [{"name": name, "type": type} for name, type in (("id", "uuid"), ("title", "text"), ("content", "text"))]
LARGE = 2000


class Realtime:
    def __init__(self, world, seed, token):
        self.world, self.token = world, token
        self.faults = Faults("rows", seed)
        self.random = self.faults.random
        self.rows = {table: {} for table in TABLES}
        self.count = 0
        self.live = set()
        self.connections = {}
        for table in TABLES:
            for _ in range(20):
                self.change(table, "INSERT")

    # What people do

    def act(self):
        table = self.random.choice(TABLES)
        kind = self.random.choices(["INSERT", "UPDATE", "DELETE"], [40, 50, 10])[0]
        self.change(table, kind if self.rows[table] else "INSERT")

    def change(self, table, kind):
        rows = self.rows[table]
        if kind == "INSERT":
            id = str(uuid.UUID(int=self.random.getrandbits(128)))
            rows[id] = {"id": id, "title": "title %d" % self.random.randrange(10**6), "content": self.text()}
            record = rows[id]
        elif kind == "UPDATE":
            id = self.random.choice(sorted(rows))
            is_large = self.random.random() < 0.3
            name = "content" if is_large else "title"
            rows[id] = dict(rows[id], **{name: self.text() if is_large else "title %d" % self.random.randrange(10**6)})
            # A large value that stays as it was is left out.
            record = {n: v for n, v in rows[id].items() if n == name or len(v) < LARGE}
        else:
            id = self.random.choice(sorted(rows))
            record = None
            del rows[id]
        self.world.touch("rows", table, id)
        self.tell(table, kind, id, record)
        return id

    def text(self):
        return "soup, größer " * self.random.choice([1, 5, 200])

    def tell(self, table, kind, id, record):
        data = {"schema": "public", "table": table, "type": kind, "commit_timestamp": stamp(time.time()), "errors": None}
        data["columns"] = COLUMNS
        if kind != "DELETE":
            data["record"] = record
        if kind != "INSERT":
            data["old_record"] = {"id": id}
        # A delete that is skipped would be known to nobody for ever.
        skips = kind != "DELETE" and self.faults.pick({"skipped change": 1.5})
        if not skips:
            for connection in list(self.live):
                connection.tell(table, data)

    # The socket

    async def serve(self, request, reader, writer):
        socket = WebSocket.accept(request, writer, self.faults)
        self.count += 1
        connection = Channels(self, socket, "rt-%d" % self.count)
        self.connections[connection.name] = socket
        self.live.add(connection)
        writing = asyncio.create_task(socket.run())
        async for opcode, payload in socket.frames(reader):
            if opcode == 8:
                break
            if opcode == 1:
                connection.take(json.loads(payload))
        writing.cancel()
        socket.drop()
        self.live.discard(connection)

    # PostgREST

    async def rest(self, request, writer):
        if request.headers.get("authorization") != "Bearer " + self.token:
            return await answer(writer, self.faults, 401, b"{}")
        rows = self.rows[request.path.split("/")[3]]
        after = request.query.get("id", "gt.")[3:]
        ids = [id for id in sorted(rows) if id > after][: int(request.query["limit"])]
        body = json.dumps([rows[id] for id in ids], ensure_ascii=False).encode()
        return await answer(writer, self.faults, 200, body, [("Content-Type", "application/json")])


class Channels:
    def __init__(self, server, socket, name):
        self.server, self.socket, self.name = server, socket, name
        # By table: join_ref, topic, whether changes are delivered.
        self.joined = {}

    def send(self, join_ref, ref, topic, event, payload):
        message = {"topic": topic, "event": event, "payload": payload, "ref": ref, "join_ref": join_ref}
        self.socket.send(json.dumps(message, ensure_ascii=False))

    def take(self, message):
        topic, event, ref = message["topic"], message["event"], message["ref"]
        if event == "heartbeat":
            if not self.server.faults.pick({"no answer to a beat": 1}):
                self.send(None, ref, topic, "phx_reply", {"status": "ok", "response": {}})
        elif event == "phx_join":
            self.join(message, topic, ref)
        elif event == "phx_leave":
            self.joined = {table: each for table, each in self.joined.items() if each[1] != topic}

    def join(self, message, topic, ref):
        if self.server.faults.pick({"join refused": 4}):
            return self.send(ref, ref, topic, "phx_reply", {"status": "error", "response": {"reason": "busy"}})
        asked = message["payload"]["config"]["postgres_changes"]
        bindings = [dict(binding, id=place + 1) for place, binding in enumerate(asked)]
        response = {"postgres_changes": bindings, "connection": self.name}
        self.send(ref, ref, topic, "phx_reply", {"status": "ok", "response": response})
        table = asked[0]["table"]
        self.joined[table] = [ref, topic, False]
        # What changes until then is delivered to nobody.
        asyncio.get_running_loop().call_later(self.server.random.uniform(0.01, 0.1), self.subscribe, table, ref)

    def subscribe(self, table, ref):
        entry = self.joined.get(table)
        if entry and entry[0] == ref:
            entry[2] = True
            self.system(entry, "ok", "Subscribed to PostgreSQL")

    def system(self, entry, status, text):
        payload = {"extension": "postgres_changes", "status": status, "message": text, "channel": entry[1]}
        self.send(entry[0], None, entry[1], "system", payload)

    def tell(self, table, data):
        entry = self.joined.get(table)
        if entry is None or not entry[2]:
            return
        fault = self.server.faults.pick({"channel error": 0.5, "unsubscribed": 0.5})
        if fault == "channel error":
            self.send(entry[0], None, entry[1], "phx_error", {})
            del self.joined[table]
        elif fault == "unsubscribed":
            entry[2] = False
            self.system(entry, "error", "connection to the database lost")
            asyncio.get_running_loop().call_later(0.2, self.subscribe, table, entry[0])
        else:
            self.send(entry[0], None, entry[1], "postgres_changes", {"ids": [1], "data": data})
