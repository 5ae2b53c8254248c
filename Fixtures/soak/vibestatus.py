"""Status files as hooks write them, and the same app's records in CloudKit over REST."""
import asyncio
import json
import os
import time

from net import Faults, answer

STATES = ["working", "idle", "needs_input"]


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class StatusFiles:
    """A folder of status files that come, change by parts or at once, and go."""

    def __init__(self, world, seed, folder):
        self.world, self.folder = world, folder
        self.faults = Faults("files", seed)
        self.random = self.faults.random
        self.sessions = {}
        os.makedirs(folder)
        for _ in range(5):
            self.write(self.fresh_name())

    def act(self):
        kind = self.random.choices(["start", "change", "end", "odd"], [20, 60, 15, 5])[0]
        if kind == "end" and self.sessions:
            name = self.random.choice(sorted(self.sessions))
            del self.sessions[name]
            os.remove(self.path(name))
            self.world.touch("files", "session", name)
        elif kind == "odd":
            self.leave_odd_files()
        else:
            known = sorted(self.sessions)
            self.write(self.random.choice(known) if kind == "change" and known else self.fresh_name())

    def fresh_name(self):
        return "vibestatus-%08x.json" % self.random.getrandbits(32)

    def write(self, name):
        session = {"state": self.random.choice(STATES), "project": "garden", "timestamp": now()}
        session["pid"] = self.random.randrange(10**5)
        self.sessions[name] = session
        text = json.dumps(session, separators=(",", ":")) + "\n"
        self.world.touch("files", "session", name)
        if self.random.random() < 0.3:
            with open(self.path(name) + ".new", "w") as file:
                file.write(text)
            return os.rename(self.path(name) + ".new", self.path(name))
        with open(self.path(name), "w") as file:
            half = len(text) // 2
            if self.faults.pick({"half file": 20}):
                file.write(text[:half])
                file.flush()
                os.fsync(file.fileno())
                text = text[half:]
            file.write(text)
        return name

    def leave_odd_files(self):
        self.faults.note("odd file")
        link = self.path("vibestatus-link-%04x.json" % self.random.getrandbits(16))
        if not os.path.lexists(link):
            os.symlink("/etc/hostname", link)

    def path(self, name):
        return os.path.join(self.folder, name)


class CloudKit:
    """Records by query and lookup; a token is good for one request, and each answer gives the next."""

    def __init__(self, world, seed, token_file):
        self.world, self.token_file = world, token_file
        self.faults = Faults("cloud", seed)
        self.random = self.faults.random
        self.records = {"Session": {}, "Prompt": {}}
        self.tag = 0
        self.is_signing_in = False
        self.sign_in()
        for _ in range(5):
            self.save("Session")

    # What people do

    def act(self):
        type = self.random.choice(["Session", "Session", "Prompt"])
        records = self.records[type]
        if records and self.random.random() < 0.2:
            name = self.random.choice(sorted(records))
            del records[name]
            self.world.touch("cloud", type, name)
        else:
            self.save(type, self.random.choice(sorted(records)) if records and self.random.random() < 0.6 else None)

    def save(self, type, name=None):
        name = name or ("vibestatus-%06x.json" if type == "Session" else "6C1E-%06x") % self.random.getrandbits(24)
        old = self.records[type].get(name, {"fields": {}})["fields"]
        milliseconds = {"value": int(time.time() * 1000), "type": "TIMESTAMP"}
        fields = dict(old, project={"value": "garden", "type": "STRING"}, timestamp=milliseconds)
        if type == "Session":
            fields["sessionId"] = {"value": name, "type": "STRING"}
            fields["status"] = {"value": self.random.choice(STATES), "type": "STRING"}
            fields["macDeviceName"] = {"value": "mini.local", "type": "STRING"}
        else:
            responded = 1 if old and self.random.random() < 0.5 else 0
            fields.update(promptId={"value": name}, sessionId={"value": "3f2a"}, notificationType={"value": "idle_prompt"})
            fields.update(promptMessage={"value": "Run? %d" % self.tag}, responded={"value": responded, "type": "INT64"})
            if responded:
                fields.update(responseText={"value": "y"}, respondedAt=milliseconds)
        self.tag += 1
        record = {"recordName": name, "recordType": type, "fields": fields, "recordChangeTag": "k%d" % self.tag}
        self.records[type][name] = dict(record, deleted=False, modified={"timestamp": milliseconds["value"]})
        self.world.touch("cloud", type, name)
        return name

    def sign_in(self):
        """A person signs in: the token that the next request needs is in the file."""
        self.is_signing_in = False
        self.token = "web-%016x" % self.random.getrandbits(64)
        with open(self.token_file + ".signed", "w") as file:
            file.write(self.token + "\n")
        os.rename(self.token_file + ".signed", self.token_file)

    # The API

    async def rest(self, request, writer):
        if request.query.get("ckWebAuthToken") != self.token:
            # An answer with the next token was lost on its way.
            if not self.is_signing_in:
                self.is_signing_in = True
                self.faults.note("signed out")
                asyncio.get_running_loop().call_later(0.1, self.sign_in)
            return await answer(writer, self.faults, 421, b'{"serverErrorCode":"AUTHENTICATION_REQUIRED"}')
        self.token = "web-%016x" % self.random.getrandbits(64)
        asked = json.loads(request.body)
        value = self.query(asked) if request.path.endswith("query") else self.lookup(asked)
        value["webAuthToken"] = self.token
        return await answer(writer, self.faults, 200, json.dumps(value, ensure_ascii=False).encode())

    def query(self, asked):
        query, count = asked["query"], 3
        field, bound = query["filterBy"][0]["fieldName"], query["filterBy"][0]["fieldValue"]["value"]
        records = sorted(self.records[query["recordType"]].values(), key=lambda each: each["recordName"])
        if field == "timestamp":
            found = [each for each in records if each["fields"][field]["value"] >= bound]
        else:
            found = [each for each in records if each["fields"][field]["value"] == bound]
        start = int(asked.get("continuationMarker", 0))
        answer = {"records": found[start : start + count]}
        if start + count < len(found):
            answer["continuationMarker"] = str(start + count)
        return answer

    def lookup(self, asked):
        def one(name):
            for records in self.records.values():
                if name in records:
                    return records[name]
            return {"recordName": name, "serverErrorCode": "NOT_FOUND", "reason": "no such record"}
        return {"records": [one(each["recordName"]) for each in asked["records"]]}
