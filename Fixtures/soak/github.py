"""GitHub's REST API over a branch of chat messages that is committed to, merged, replaced by force, deleted and begun
anew; its objects are made as git makes them."""
import base64
import hashlib
import json
import textwrap
import time

from net import Faults, answer

BRANCH = "vibechannel"
LIMIT = 5000


class GitHub:
    def __init__(self, world, seed, token):
        self.world, self.token = world, token
        self.faults = Faults("vibe", seed)
        self.random = self.faults.random
        self.trees, self.blobs, self.commits = {}, {}, {}
        # Paths and texts of the tip, and of older tips to go back to.
        self.tip, self.files, self.past = None, {}, []
        self.clock, self.count, self.used = 1741064400, 0, 0
        self.commit({"general/.gitkeep": ""}, [], "Add initial VibeChannel structure")

    # What people do

    def act(self):
        kinds = ["send", "edit", "delete", "channel", "merge", "force", "again", "many"]
        kind = self.random.choices(kinds, [50, 15, 8, 3, 8, 3, 1, 4])[0]
        messages = sorted(path for path in self.files if path.endswith(".md"))
        if kind == "edit" and messages:
            self.write(self.random.choice(messages), "Edit message by ann")
        elif kind == "delete" and messages:
            files = dict(self.files)
            del files[self.random.choice(messages)]
            self.commit(files, [self.tip], "Delete message by ann")
        elif kind == "channel":
            name = "channel-%d" % self.random.randrange(5)
            self.commit(dict(self.files, **{name + "/.gitkeep": ""}), [self.tip], "Create #%s channel" % name)
        elif kind == "merge":
            self.merge()
        elif kind == "force" and self.past:
            self.tip, self.files = self.random.choice(self.past[-5:])
            self.write(self.fresh_path(), "Message from ann")
            self.faults.note("force push")
        elif kind == "again":
            self.commit({"general/.gitkeep": ""}, [], "Initialize VibeChannel branch")
            self.faults.note("branch begun anew")
        else:
            for _ in range(self.random.randrange(2, 6) if kind == "many" else 1):
                self.write(self.fresh_path(), "Message from ann")

    def fresh_path(self):
        self.count += 1
        channel = self.random.choice(sorted({path.split("/")[0] for path in self.files} or {"general"}))
        return "%s/20250304T050607-ann-%06x.md" % (channel, self.count)

    def write(self, path, subject):
        text = "message %d, grün\n%s" % (self.random.randrange(10**6), "x" * self.random.choice([0, 0, 500]))
        lines = ["---", "from: ann", "date: 2025-03-04T05:06:07Z", "---", "", text]
        self.commit(dict(self.files, **{path: "\n".join(lines)}), [self.tip], subject)
        return path.split("/")[1][:-3]

    def merge(self):
        base, files = self.tip, self.files
        self.write(self.fresh_path(), "Message from ann")
        ours, merged = self.tip, self.files
        self.tip, self.files = base, files
        self.write(self.fresh_path(), "Message from bo")
        self.commit(dict(merged, **self.files), [ours, self.tip], "Merge branch 'vibechannel' into vibechannel")

    def commit(self, files, parents, subject):
        before = self.files
        self.clock += self.random.randrange(60)
        zone = self.random.choice(["+0000", "+0000", "+0100", "-0330"])
        person = "Ann Ärm <ann@example.org> %d %s" % (self.clock, zone)
        tree = self.tree(files)
        lines = ["tree " + tree] + ["parent " + id for id in parents]
        lines += ["author " + person, "committer " + person, "", subject]
        ending = self.random.choice(["\n", "\n", ""])
        data = ("\n".join(lines) + ending).encode()
        date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.clock))
        who = {"name": "Ann Ärm", "email": "ann@example.org", "date": date}
        told = {"message": subject, "tree": {"sha": tree}, "author": who, "committer": who}
        id = object_id("commit", data)
        self.commits[id] = dict(told, sha=id, parents=[{"sha": parent} for parent in parents], order=len(self.commits))
        self.tip, self.files = id, files
        self.past.append((id, files))
        for path in set(before) | set(files):
            if before.get(path) != files.get(path):
                self.world.touch("vibe", "message", path.split("/")[1][:-3])

    def tree(self, files):
        """Stores a tree and all below it; its id."""
        entries = {}
        for path, text in files.items():
            folder, _, rest = path.partition("/")
            entries.setdefault(folder, {})[rest] = text
        told, data = [], b""
        for name in sorted(entries, key=lambda name: name if "" in entries[name] else name + "/"):
            if "" in entries[name]:
                content = entries[name][""].encode()
                id, mode = object_id("blob", content), "100644"
                self.blobs[id] = content
                told.append({"path": name, "mode": mode, "type": "blob", "sha": id, "size": len(content)})
            else:
                id, mode = self.tree(entries[name]), "40000"
                told.append({"path": name, "mode": "040000", "type": "tree", "sha": id})
            data += ("%s %s\0" % (mode, name)).encode() + bytes.fromhex(id)
        id = object_id("tree", data)
        self.trees[id] = told
        return id

    # The API

    async def rest(self, request, writer):
        if request.headers.get("authorization") != "Bearer " + self.token:
            return await answer(writer, self.faults, 401, b'{"message":"Bad credentials"}')
        status, value, fields = self.page(request.path.split("/")[4:], request)
        self.used += status != 304
        fields += [("X-RateLimit-Limit", str(LIMIT)), ("X-RateLimit-Remaining", str(LIMIT - self.used % 1000))]
        fields += [("X-RateLimit-Reset", str(int(time.time()) + 3600)), ("Cache-Control", "private, max-age=60")]
        body = b"" if status == 304 else json.dumps(value, ensure_ascii=False).encode()
        return await answer(writer, self.faults, status, body, fields)

    def page(self, parts, request):
        missing = (404, {"message": "Not Found"}, [])
        if parts[:3] == ["git", "ref", "heads"]:
            if self.faults.pick({"branch away": 2}):
                return missing
            etag = 'W/"%s"' % self.tip
            if request.headers.get("if-none-match") == etag:
                return 304, None, [("ETag", etag)]
            return 200, {"ref": "refs/heads/" + BRANCH, "object": {"sha": self.tip, "type": "commit"}}, [("ETag", etag)]
        if parts[0] == "commits":
            count, page = int(request.query["per_page"]), int(request.query["page"])
            listed = self.behind(request.query["sha"])[(page - 1) * count : page * count]
            return 200, [dict(sha=each["sha"], parents=each["parents"], commit=each) for each in listed], []
        if parts[0] == "compare":
            base, _, head = parts[1].partition("...")
            if base not in self.commits:
                return missing
            behind = {each["sha"] for each in self.behind(head)}
            return 200, {"status": "ahead" if base in behind else "diverged"}, []
        kind, id = parts[1:3]
        if kind == "commits" and id in self.commits:
            return 200, self.commits[id], []
        if kind == "trees" and id in self.trees:
            return 200, {"sha": id, "tree": self.trees[id], "truncated": False}, []
        if kind == "blobs" and id in self.blobs:
            content = "".join(line + "\n" for line in textwrap.wrap(base64.b64encode(self.blobs[id]).decode(), 60))
            return 200, {"sha": id, "size": len(self.blobs[id]), "encoding": "base64", "content": content}, []
        return missing

    def behind(self, tip):
        """The commits that can be reached from a tip, newest first."""
        seen, stack = set(), [tip] if tip in self.commits else []
        while stack:
            id = stack.pop()
            if id not in seen:
                seen.add(id)
                stack += [parent["sha"] for parent in self.commits[id]["parents"]]
        return sorted((self.commits[id] for id in seen), key=lambda each: -each["order"])


def object_id(type, data):
    return hashlib.sha1(b"%s %d\0" % (type.encode(), len(data)) + data).hexdigest()
