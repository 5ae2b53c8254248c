"""A gateway that behaves as Retrocast's: numbers per connection, rings of 100 per guild, no answer to RESUME, one
connection a user, 60 s without a Pong end it; and its REST routes."""
import asyncio
import json
import time

from net import Faults, WebSocket, answer

TICK, PONG, RING = 41.25, 60, 100
PEOPLE = ["nell", "ola", "bo"]


class Gateway:
    def __init__(self, world, seed, speed, token):
        self.world, self.speed, self.token = world, speed, token
        self.faults = Faults("chat", seed)
        self.random = self.faults.random
        self.next_id = 135653857689735168
        self.guild = self.fresh_id()
        self.counter, self.ring = 0, []
        self.channels, self.messages, self.deleted, self.reactions = {}, {}, set(), set()
        self.live = None
        self.count = 0
        # By the connection's name, which HELLO carries: what was sent on it.
        self.connections = {}
        for name in ("general", "kitchen"):
            self.make_channel(name)

    def fresh_id(self):
        self.next_id += 1
        return self.next_id

    # What people do

    def act(self):
        """One change."""
        kind = self.random.choices(["post", "edit", "delete", "react", "rename", "typing"], [50, 15, 8, 12, 3, 12])[0]
        some = self.random.choice(sorted(self.messages)[-30:]) if self.messages else None
        if kind == "post" or some is None:
            self.post("tea at %d & grün %d" % (self.random.randrange(24), self.next_id))
        elif kind == "edit":
            self.edit(some)
        elif kind == "delete":
            self.delete(some)
        elif kind == "react":
            self.react(some)
        elif kind == "rename":
            self.rename()
        else:
            channel = self.random.choice(sorted(self.channels))
            typing = {"channel_id": str(channel), "guild_id": str(self.guild), "user_id": "7", "timestamp": 1772366700}
            self.dispatch("TYPING_START", typing)

    def post(self, content):
        channel = self.random.choice(sorted(self.channels))
        message = {
            "id": str(self.fresh_id()), "channel_id": str(channel), "author_id": "7", "content": content,
            "created_at": stamp(time.time()), "author_username": "nell", "author_display_name": "Nell",
            "attachments": None,
        }
        self.messages[int(message["id"])] = message
        self.touch("message", message["id"])
        self.dispatch("MESSAGE_CREATE", message)
        return message["id"]

    def edit(self, id):
        edited = dict(self.messages[id], content="edited %d" % self.random.randrange(10**6), edited_at=stamp(time.time()))
        self.messages[id] = edited
        self.touch("message", str(id))
        self.dispatch("MESSAGE_UPDATE", edited)

    def delete(self, id):
        message = self.messages.pop(id)
        self.deleted.add(str(id))
        self.touch("message", str(id))
        for reaction in [each for each in self.reactions if each[0] == str(id)]:
            self.reactions.discard(reaction)
            self.touch("reaction", "/".join(reaction))
        self.dispatch("MESSAGE_DELETE", {"id": str(id), "channel_id": message["channel_id"]})

    def react(self, id):
        reaction = (str(id), self.random.choice(["🍰", "👍"]), str(self.random.randrange(3)))
        name = "REMOVE" if reaction in self.reactions else "ADD"
        (self.reactions.discard if name == "REMOVE" else self.reactions.add)(reaction)
        self.touch("reaction", "/".join(reaction))
        place = {"message_id": reaction[0], "channel_id": self.messages[id]["channel_id"], "guild_id": str(self.guild)}
        self.dispatch("MESSAGE_REACTION_" + name, dict(place, user_id=reaction[2], emoji=reaction[1]))

    def make_channel(self, name):
        id = self.fresh_id()
        self.channels[id] = {"id": str(id), "guild_id": str(self.guild), "name": name, "type": 0, "position": len(self.channels)}
        self.touch("channel", str(id))
        self.dispatch("CHANNEL_CREATE", self.channels[id])

    def rename(self):
        id = self.random.choice(sorted(self.channels))
        self.channels[id] = dict(self.channels[id], name="room-%d" % self.random.randrange(1000))
        self.touch("channel", str(id))
        self.dispatch("CHANNEL_UPDATE", self.channels[id])

    def touch(self, kind, id):
        self.world.touch("chat", kind, id)

    # The gateway

    def dispatch(self, name, data):
        self.counter += 1
        self.ring = (self.ring + [(self.counter, name, data)])[-RING:]
        if self.live and self.live.subscribed:
            self.live.dispatch(name, data)

    async def serve(self, request, reader, writer):
        socket = WebSocket.accept(request, writer, self.faults)
        self.count += 1
        connection = Connection(self, socket, "gw-%d" % self.count)
        self.connections[connection.name] = socket
        connection.send({"op": 10, "d": {"heartbeat_interval": 41250, "_trace": [connection.name]}})
        tasks = [asyncio.create_task(socket.run()), asyncio.create_task(connection.keep_time())]
        async for opcode, payload in socket.frames(reader):
            if opcode == 10:
                connection.pong = time.monotonic()
            elif opcode == 8:
                break
            elif opcode == 1:
                connection.take(json.loads(payload))
        for task in tasks:
            task.cancel()
        socket.drop()
        if self.live is connection:
            self.live = None

    # REST

    async def rest(self, request, writer):
        if request.headers.get("authorization") != "Bearer " + self.token:
            return await answer(writer, self.faults, 401, b'{"message":"invalid token"}')
        body = self.page(request.path.split("/")[3:], request.query)
        if body is None:
            return await answer(writer, self.faults, 404, b'{"message":"Not Found"}')
        return await answer(writer, self.faults, 200, json.dumps(body, ensure_ascii=False).encode())

    def page(self, parts, query):
        guild = {"id": str(self.guild), "name": "Tea House", "owner_id": "7", "created_at": "2026-01-10T08:00:00Z"}
        if parts == ["users", "@me"]:
            return {"data": {"id": "7", "username": "nell", "display_name": "Nell"}}
        if parts == ["users", "@me", "guilds"]:
            return {"data": [guild]}
        if parts[0] == "users" or parts[-1] in ("roles", "bans"):
            return []
        if parts[-1] == "members":
            return {"data": []}
        if parts[0] == "guilds" and parts[-1] == "channels":
            return {"data": [self.channels[id] for id in sorted(self.channels)]}
        if parts[0] == "channels" and parts[-1] == "messages":
            before = int(query.get("before", 1 << 63))
            newest = [m for id, m in sorted(self.messages.items(), reverse=True) if m["channel_id"] == parts[1] and id < before]
            return newest[: int(query.get("limit", 50))]
        return None


class Connection:
    def __init__(self, gateway, socket, name):
        self.gateway, self.socket, self.name = gateway, socket, name
        self.number, self.held = 0, None
        self.subscribed = False
        self.pong = self.beat = time.monotonic()

    def send(self, value):
        self.socket.send(json.dumps(value, ensure_ascii=False, separators=(",", ":")))

    def dispatch(self, name, data):
        """Takes a number, and queues the frame unless the plan loses it or swaps it with the next one."""
        self.number += 1
        frame = {"op": 0, "d": data, "s": self.number, "t": name}
        fault = self.gateway.faults.pick({"lost frame": 1.5, "swap": 1.5}) if name != "READY" else None
        if fault == "lost frame" and (key := entity(name, data)):
            # Also of a replay: what it repeated stands there without what undid it.
            self.gateway.world.lose("chat", *key)
        if fault == "swap" and self.held is None:
            self.held = frame
        elif fault != "lost frame":
            self.send(frame)
            if self.held:
                self.send(self.held)
            self.held = None

    async def keep_time(self):
        """Ticks, and the two reasons to end a connection that they find."""
        speed = self.gateway.speed
        start, ticks = time.monotonic(), 0
        while True:
            await asyncio.sleep(0.05)
            now = time.monotonic()
            if now - self.pong > PONG / speed:
                self.gateway.faults.note("no pong")
                return self.socket.drop()
            if now - start > TICK / speed * (ticks + 1):
                ticks += 1
                if now - self.beat > (TICK + 10) / speed:
                    self.gateway.faults.note("no heartbeat")
                    return self.socket.drop()
                self.send({"op": 1})
                if self.gateway.faults.pick({"second login": 3}):
                    return self.socket.drop()

    def take(self, message):
        gateway = self.gateway
        operation = message.get("op")
        if operation == 1:
            self.beat = time.monotonic()
            self.send({"op": 11})
        elif operation in (2, 6):
            if message["d"]["token"] != gateway.token:
                return self.socket.drop()
            if gateway.live and gateway.live is not self:
                gateway.live.socket.drop()
            gateway.live, self.subscribed = self, True
            if operation == 2:
                ready = {"session_id": "s-" + self.name, "user_id": "7", "guilds": [gateway.guild], "read_states": None}
                self.dispatch("READY", ready)
                gateway.dispatch("PRESENCE_UPDATE", {"user_id": "7", "status": "online"})
            else:
                for counter, name, data in list(gateway.ring):
                    if counter > message["d"]["seq"]:
                        self.dispatch(name, data)


def entity(name, data):
    """What a dispatch is about."""
    if "_REACTION_" in name:
        return "reaction", "/".join([data["message_id"], data["emoji"], data["user_id"]])
    kind = name.split("_")[0].lower()
    return (kind, data["id"]) if kind in ("message", "channel") else None


def stamp(seconds):
    """RFC 3339 with microseconds."""
    whole = int(seconds)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + ".%06dZ" % int((seconds - whole) * 1e6)
