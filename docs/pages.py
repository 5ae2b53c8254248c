#!/usr/bin/env python3
"""Judges logs that may be damaged, by what docs/format.md says and by the layout of LMDB's pages, without LMDB.

usage: pages.py LOG...      Prints a line of JSON for each: whether it is whole, and which events can be proved.

"events" are pairs of sequence and leaf hash: records anywhere in the file, in use or not, whose bytes fit their leaf hash
and whose lane has its sum. Opens everything read-only; writes nothing.
"""
import hashlib
import json
import os
import struct
import sys

sys.dont_write_bytecode = True
import blocks

NO_PAGE = (1 << 64) - 1
BRANCH, LEAF, OVERFLOW, META = 1, 2, 4, 8
LARGE, TABLE = 1, 2
TABLES = ("meta", "events", "gaps", "nodes", "lanes", "keys", "facts", "bookmarks")
ACT_NAMES = (b'"remains":{', b'"droppedHash":"', b'"substituteHash":"')


class Damage(Exception):
    pass


def need(condition, reason):
    if not condition:
        raise Damage(reason)


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def u64(data, offset=0):
    return struct.unpack_from(">Q", data, offset)[0]


def text(data):
    return struct.pack(">H", len(data)) + data


def opened(table, key, value):
    """The value without its sum, or None."""
    right = len(value) >= 8 and sha(table.encode(), b"\0", key, value[:-8])[:8] == value[-8:]
    return value[:-8] if right else None


class Tree:
    def __init__(self, data, offset):
        words = struct.unpack_from("<IHHQQQQQ", data, offset)
        _, self.flags, self.depth, self.branches, self.leaves, self.overflows, self.entries, self.root = words


class Meta:
    def __init__(self, data, offset):
        self.number, self.flags = struct.unpack_from("<Q2xH", data, offset)
        magic, version, self.address, self.map = struct.unpack_from("<IIQQ", data, offset + 16)
        need(self.flags == META and magic == 0xBEEFC0DE and version == 1, "no meta page")
        (self.page_bytes,) = struct.unpack_from("<I", data, offset + 40)
        self.free, self.main = Tree(data, offset + 40), Tree(data, offset + 88)
        self.last, self.transaction = struct.unpack_from("<QQ", data, offset + 136)
        need(self.page_bytes in (1 << bits for bits in range(9, 17)), "a strange size of pages")


def meta_page(data, offset):
    try:
        return Meta(data, offset)
    except (Damage, struct.error):
        return None


class Pages:
    """The pages of a data file, with every rule of a well-formed one."""

    def __init__(self, data):
        self.data = data
        first = meta_page(data, 0)
        sizes = [first.page_bytes] if first else [4096, 16384, 8192, 65536]
        second = next((meta for meta in (meta_page(data, size) for size in sizes) if meta), None)
        self.metas = [first, second]
        known = first or second
        self.page_bytes = known.page_bytes if known else 4096

    def newest(self):
        for number, meta in enumerate(self.metas):
            need(meta, "meta page %d is none" % number)
            fits = meta.transaction == 0 or meta.transaction & 1 == number
            need(meta.number == number and fits, "a meta page of another place")
            need(meta.address == 0 and meta.map >= 1 << 30 and meta.map & (meta.map - 1) == 0, "a strange map")
            need(meta.free.flags == 8 and meta.main.flags == 0, "strange flags")
        first, second = self.metas
        need(abs(first.transaction - second.transaction) <= 1, "the meta pages do not fit")
        need(first.page_bytes == second.page_bytes, "the meta pages do not fit")
        for meta in self.metas:
            # A commit lists the pages that it frees under its own number.
            need(meta.transaction <= 1 or self.last_freed(meta) == meta.transaction, "of another transaction")
        return max(self.metas, key=lambda meta: meta.transaction)

    def last_freed(self, meta):
        number = meta.free.root
        for _ in range(64):
            need(2 <= number <= meta.last, "no such page")
            kind, nodes = self.page(number)
            key, value = nodes[-1][:2]
            if kind == LEAF:
                need(len(key) == 8, "a key of the free list")
                return struct.unpack("<Q", key)[0]
            number = value
        raise Damage("a circle")

    def page(self, number):
        """(BRANCH, [(key, child)]) or (LEAF, [(key, value, flags, size)]); each entry in bounds, and no room left."""
        start = number * self.page_bytes
        page = self.data[start : start + self.page_bytes]
        need(len(page) == self.page_bytes, "page %d is behind the end" % number)
        own, pad, flags, lower, upper = struct.unpack_from("<QHHHH", page)
        need(own == number and pad == 0 and flags in (BRANCH, LEAF), "page %d is another one" % number)
        need(16 <= lower <= upper <= len(page) and lower % 2 == 0, "the head of page %d" % number)
        nodes, used = [], 0
        for slot in range(16, lower, 2):
            (offset,) = struct.unpack_from("<H", page, slot)
            need(offset >= upper and offset % 2 == 0 and offset + 8 <= len(page), "an entry lies outside")
            low, high, node_flags, key_size = struct.unpack_from("<HHHH", page, offset)
            key_end, size = offset + 8 + key_size, low | high << 16
            inside = 0 if flags == BRANCH else 8 if node_flags & LARGE else size
            need(key_end + inside <= len(page), "an entry leaves the page")
            used += 8 + key_size + inside + 1 & ~1
            key = page[offset + 8 : key_end]
            if flags == BRANCH:
                nodes.append((key, size | node_flags << 32))
            else:
                need(node_flags in (0, LARGE, TABLE), "flags of an entry")
                need(node_flags != TABLE or size == 48, "the size of a table")
                nodes.append((key, page[key_end : key_end + inside], node_flags, size))
        need(len(nodes) >= (2 if flags == BRANCH else 1), "too few entries")
        need(used == len(page) - upper, "entries overlap")
        return flags, nodes

    def check(self):
        """The entries of each table of the newest state."""
        meta = self.newest()
        self.last, self.claimed = meta.last, {0, 1}
        need(meta.last >= 1, "no last page")
        tables = {}
        for key, value, flags in self.walk(meta.main, "main"):
            need(flags == TABLE, "a value is no table")
            tables[key.decode("utf-8", "replace")] = Tree(value, 0)
        rows = {name: list(self.walk(tree, "table")) for name, tree in tables.items()}
        for key, value, flags in self.walk(meta.free, "free"):
            need(struct.unpack("<Q", key)[0] <= meta.transaction, "freed by a transaction to come")
            words = struct.unpack("<%dQ" % (len(value) // 8), value[: len(value) // 8 * 8])
            need(words and words[0] < len(words), "a list of free pages")
            last = NO_PAGE
            for page in words[1 : 1 + words[0]]:
                need(page < last, "a list of free pages does not descend")
                last = page
                self.claim(page)
        whole = meta.last < len(self.data) // self.page_bytes
        need(whole or len(self.claimed) == meta.last + 1, "the file ends too early")
        need(all(name in rows for name in TABLES), "a table is missing")
        return {name: [(key, value) for key, value, _ in rows[name]] for name in TABLES}

    def claim(self, number):
        need(2 <= number <= self.last and number not in self.claimed, "page %d is in use twice or none" % number)
        self.claimed.add(number)

    def walk(self, tree, role):
        need(tree.flags == (8 if role == "free" else 0), "flags of a tree")
        if tree.root == NO_PAGE:
            need(tree.depth == 0 and tree.entries == 0, "an empty tree")
            return
        need(1 <= tree.depth <= 64, "the depth of a tree")
        counts = [0, 0, 0, 0]
        yield from self.descend(tree.root, tree.depth, role, None, None, counts)
        need(counts == [tree.branches, tree.leaves, tree.overflows, tree.entries], "the counts of a tree")

    def descend(self, number, levels, role, low, high, counts):
        order = (lambda key: struct.unpack("<Q", key)[0]) if role == "free" else (lambda key: key)
        self.claim(number)
        kind, nodes = self.page(number)
        need((kind == BRANCH) == (levels > 1), "page %d is on a wrong level" % number)
        if role == "free":
            need(all(len(node[0]) == 8 for node in nodes[kind == BRANCH :]), "a key of the free list")
        keys = [node[0] for node in nodes]
        if kind == LEAF:
            counts[1] += 1
            need(role != "table" or low is None or keys[0] == low, "a branch names another key")
            need(low is None or order(keys[0]) >= order(low), "keys are out of order")
        else:
            # The first key of a branch page has no meaning.
            counts[0] += 1
            keys = keys[1:]
            need(low is None or not keys or order(keys[0]) > order(low), "keys are out of order")
        need(all(order(a) < order(b) for a, b in zip(keys, keys[1:])), "keys are out of order")
        need(high is None or not keys or order(keys[-1]) < order(high), "keys are out of order")
        if kind == BRANCH:
            for index, (key, child) in enumerate(nodes):
                above = nodes[index + 1][0] if index + 1 < len(nodes) else high
                yield from self.descend(child, levels - 1, role, low if index == 0 else key, above, counts)
            return
        for key, value, flags, size in nodes:
            counts[3] += 1
            need(role == "main" or flags != TABLE, "a table in a table")
            if flags == LARGE:
                value, pages = self.large(*struct.unpack("<Q", value), size)
                counts[2] += pages
            yield key, value, flags

    def large(self, number, size):
        start = number * self.page_bytes
        need(2 <= number <= self.last and start + 16 + size <= len(self.data), "a large value is behind the end")
        own, pad, flags, pages = struct.unpack_from("<QHHI", self.data, start)
        need(own == number and flags == OVERFLOW, "page %d does not begin a large value" % number)
        # A value that was made shorter within its transaction keeps its pages.
        need(pages >= (15 + size) // self.page_bytes + 1, "page %d does not begin this value" % number)
        need(number + pages <= len(self.data) // self.page_bytes, "a large value is behind the end")
        for page in range(number, number + pages):
            self.claim(page)
        return self.data[start + 16 : start + 16 + size], pages

    def scan(self):
        """(key, value) of everything in the file that may be an entry of a leaf."""
        for start in range(2 * self.page_bytes, len(self.data) - self.page_bytes + 1, self.page_bytes):
            page = self.data[start : start + self.page_bytes]
            flags, lower = struct.unpack_from("<HH", page, 10)
            if flags != LEAF or not 16 <= lower <= len(page):
                continue
            for slot in range(16, lower - 1, 2):
                (offset,) = struct.unpack_from("<H", page, slot)
                if not 16 <= offset <= len(page) - 8:
                    continue
                low, high, node_flags, key_size = struct.unpack_from("<HHHH", page, offset)
                key_end, size = offset + 8 + key_size, low | high << 16
                key = page[offset + 8 : key_end]
                if node_flags & LARGE and key_end + 8 <= len(page):
                    begin = struct.unpack_from("<Q", page, key_end)[0] * self.page_bytes + 16
                    if begin + size <= len(self.data):
                        yield key, self.data[begin : begin + size]
                elif not node_flags & LARGE and key_end + size <= len(page):
                    yield key, page[key_end : key_end + size]


class Record:
    def __init__(self, record, lanes):
        need(len(record) >= 63, "a short record")
        version, state, lane, self.recorded_at, key_length = struct.unpack_from(">BBIqB", record)
        need(version == 1 and state in (0, 1) and lane in lanes, "a record")
        self.leaf_hash, self.redacted = record[15:47], state == 1
        end = 47 + (32 if self.redacted else 16)
        salt, self.key = record[47:end], record[end : end + key_length]
        self.payload = record[end + key_length :]
        need(end + key_length <= len(record), "a record")
        commitment = salt if self.redacted else sha(salt, self.payload)
        self.source, kind, attributes = lanes[lane]
        named = b"\1" + text(self.key) if self.key else b"\0"
        leaf = b"\1" + struct.pack(">q", self.recorded_at) + text(self.source) + text(kind) + named + attributes
        self.is_right = sha(b"\0", leaf, commitment) == self.leaf_hash


def lane(value):
    source_end = 2 + struct.unpack_from(">H", value)[0]
    kind_end = source_end + 2 + struct.unpack_from(">H", value, source_end)[0]
    return value[2:source_end], value[source_end + 2 : kind_end], value[kind_end:]


def root(hashes):
    """The root of RFC 6962 over leaf hashes, kept as a stack of complete subtrees."""
    stack = []
    for index, hash in enumerate(hashes):
        while index & 1:
            hash, index = sha(b"\1", stack.pop(), hash), index >> 1
        stack.append(hash)
    result = stack.pop() if stack else sha()
    while stack:
        result = sha(b"\1", stack.pop(), result)
    return result


class Log:
    """What the tables of a log must say of each other."""

    def __init__(self, tables, identity):
        rows = {}
        for name in TABLES:
            if name != "events":
                rows[name] = [(key, opened(name, key, value)) for key, value in tables[name]]
                need(all(value is not None for _, value in rows[name]), "a value of %s is altered" % name)
        self.meta = dict(rows["meta"])
        need(self.meta.get(b"identity", b"").hex() == identity, "another identity")
        numbers = [struct.unpack(">I", key)[0] for key, _ in rows["lanes"]]
        need(numbers == list(range(len(numbers))), "a lane is missing")
        self.lanes = {number: lane(value) for number, (_, value) in enumerate(rows["lanes"])}
        self.rows = rows
        self.hashes, self.dropped, self.acts, self.redacted = {}, {}, {}, {}
        self.take_runs()
        self.take_events(tables["events"])
        self.head = max(self.hashes, default=0)
        need(len(self.hashes) == self.head, "a sequence is neither held nor dropped")
        self.ordered = [self.hashes[sequence] for sequence in range(1, self.head + 1)]
        self.check_nodes()
        self.check_acts()
        self.check_remains()

    def take_runs(self):
        for key, run in self.rows["gaps"]:
            level, rewrite, _ = struct.unpack_from(">BIq", run)
            need(level == 0 and rewrite > 0, "a run of a part")
            for place in range((len(run) - 13) // 32):
                sequence = u64(key) + place
                need(sequence not in self.hashes, "runs overlap")
                self.hashes[sequence] = run[13 + 32 * place : 45 + 32 * place]
                self.dropped.setdefault(rewrite, []).append(sequence)

    def take_events(self, rows):
        rows = list(rows)
        sealed = [row for row in rows if row[1][:1] == b"\2"]
        held = [blocks.records(*row) for row in rows]
        need(rows[: len(sealed)] == sealed, "a block lies behind an event that is not sealed")
        through = u64(sealed[-1][0]) if sealed else 0
        said = struct.unpack(">QQQ", self.meta.get(b"sealed", bytes(24)))
        need(through <= said[0] and said[1:] == (len(sealed), sum(map(len, held[: len(sealed)]))), "other blocks than meta says")
        for sequence, value in (pair for pairs in held for pair in pairs):
            record = Record(value, self.lanes)
            need(sequence > 0 and sequence not in self.hashes, "sequence %d is held and dropped" % sequence)
            need(record.is_right, "event %d is not what was appended" % sequence)
            record.key.decode("utf-8")
            self.hashes[sequence] = record.leaf_hash
            if record.redacted:
                self.redacted[sequence] = sha(record.payload).hex()
            if record.source == b"logtool":
                self.acts[sequence] = record.payload

    def check_nodes(self):
        nodes = self.rows["nodes"]
        need([u64(key) for key, _ in nodes] == list(range(self.head // 256)), "a node is missing")
        for number, (_, node) in enumerate(nodes):
            need(root(self.ordered[256 * number : 256 * number + 256]) == node[:32], "node %d does not fit" % number)

    def check_acts(self):
        listed = self.meta.get(b"acts", b"")
        self.listed = [u64(listed, offset) for offset in range(0, len(listed), 8)]
        for rewrite, sequences in self.dropped.items():
            need(rewrite <= len(self.listed), "no act tells of rewrite %d" % rewrite)
            name = sha(*(struct.pack(">Q", sequence) for sequence in sorted(sequences))).hex()
            payload = self.acts.get(self.listed[rewrite - 1], b"")
            need(b'"droppedHash":"%s"' % name.encode() in payload, "an act names other events")
        for sequence, hash in self.redacted.items():
            name = b'"sequence":"%d","substituteHash":"%s"' % (sequence, hash.encode())
            need(any(name in payload for payload in self.acts.values()), "a substitute that no act names")

    def check_remains(self):
        decided = u64(self.meta[b"decidedAt"]) if b"decidedAt" in self.meta else 0
        need(decided <= self.head, "decided beyond the head")
        entries = [value[at : at + 24] for _, value in self.rows["keys"] for at in range(0, len(value), 24)]
        gone = {sequence for sequences in self.dropped.values() for sequence in sequences}
        need(all(a < b for a, b in zip(entries, entries[1:])), "keys do not ascend")
        need(all(u64(entry, 16) in gone for entry in entries), "a key of an event that is not dropped")
        acts = [act for act in sorted(self.acts) if any(name in self.acts[act] for name in ACT_NAMES)]
        if not acts:
            empty = not (decided or self.rows["facts"] or entries or self.listed)
            return need(empty, "something lies beside the events, and no act tells of it")
        payload = self.acts[acts[-1]]
        if ACT_NAMES[0] not in payload:
            other = b'"decidedAt":"' in payload and b'"decidedAt":"%d"' % decided not in payload
            return need(decided < acts[-1] and not other, "the act was decided elsewhere")
        facts = b"".join(text(key) + struct.pack(">Q", len(value)) + value for key, value in self.rows["facts"])
        runs = struct.pack(">Q", len(self.listed)) + self.meta.get(b"acts", b"")
        for key, run in self.rows["gaps"]:
            _, rewrite, clock = struct.unpack_from(">BIq", run)
            runs += key + struct.pack(">QIq", (len(run) - 13) // 32, rewrite, clock)
        runs += bytes(8) + b"".join(node[32:40] for _, node in self.rows["nodes"][: (acts[-1] - 1) // 256])
        names = {"decidedAt": str(decided), "factsHash": sha(facts).hex()}
        names.update(keysHash=sha(*entries).hex(), runsHash=sha(runs).hex())
        remains = ",".join('"%s":"%s"' % name for name in names.items())
        need(b'"remains":{%s}' % remains.encode() in payload, "the act names other remains")


def provable(pages):
    """Pairs of sequence and leaf hash of the records that fit."""
    entries = list(pages.scan())
    lanes = {}
    for key, value in entries:
        if len(key) == 4 and opened("lanes", key, value) is not None:
            lanes[struct.unpack(">I", key)[0]] = lane(value[:-8])
    found = set()
    for key, value in entries:
        if len(key) != 8:
            continue
        try:
            held = blocks.records(key, value)
        except blocks.Malformed:
            continue
        for sequence, value in held:
            try:
                record = Record(value, lanes)
            except Damage:
                continue
            if record.is_right:
                found.add((sequence, record.leaf_hash.hex()))
    return sorted(found)


def judge(path):
    with open(os.path.join(path, "FORMAT")) as file:
        format = dict(line.split(" ", 1) for line in file.read().splitlines())
    number = min(int(name[4:]) for name in os.listdir(path) if name.startswith("gen-"))
    answer = {"intact": True}
    while True:
        with open(os.path.join(path, "gen-%06d" % number, "data.mdb"), "rb") as file:
            pages = Pages(file.read())
        try:
            log = Log(pages.check(), format["identity"])
            answer.update(head=log.head, root=root(log.ordered).hex())
            if b"successor" in log.meta:
                (number,) = struct.unpack(">I", log.meta[b"successor"])
                continue
        except (Damage, blocks.Malformed, struct.error, UnicodeDecodeError, RecursionError) as error:
            answer.update(intact=False, reason=str(error))
        break
    answer["events"] = provable(pages)
    return answer


if __name__ == "__main__":
    for path in sys.argv[1:]:
        print(json.dumps(judge(path)))
