#!/usr/bin/env python3
"""Reads logs by what docs/format.md says, recomputes every leaf hash and the root, and prints them as JSON, a line each.

usage: reader.py LOG...     Needs Debian's python3-lmdb, and libzstd for a sealed log. Opens everything read-only; writes nothing.
"""
import hashlib
import json
import os
import struct
import sys

import lmdb

sys.dont_write_bytecode = True
import blocks

LEAST = -(1 << 63)


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def text(data):
    """str: u16 length and that many bytes."""
    return struct.pack(">H", len(data)) + data


class Log:
    def __init__(self, path):
        with open(os.path.join(path, "FORMAT")) as file:
            format = dict(line.split(" ", 1) for line in file.read().splitlines())
        if format["eventlog"] not in ("1", "2"):
            sys.exit("this reader knows formats 1 and 2, not " + format["eventlog"])
        numbers = sorted(int(name[4:]) for name in os.listdir(path) if name.startswith("gen-"))
        number = numbers[0]
        while True:
            self.open(os.path.join(path, "gen-%06d" % number))
            successor = self.get("meta", b"successor")
            if successor is None:
                break
            number = struct.unpack(">I", successor)[0]
        assert self.get("meta", b"identity").hex() == format["identity"]

    def open(self, path):
        self.env = lmdb.open(path, max_dbs=16, map_size=64 << 30, readonly=True, max_spare_txns=0)
        self.txn = self.env.begin()
        names = ("meta", "events", "gaps", "nodes", "lanes", "keys", "facts", "bookmarks")
        self.tables = {name: self.env.open_db(name.encode(), self.txn, create=False) for name in names}

    def opened(self, table, key, value):
        """The value without its sum."""
        if sha(table.encode(), b"\0", key, value[:-8])[:8] != value[-8:]:
            sys.exit("a value of %s is altered" % table)
        return value[:-8]

    def get(self, table, key):
        value = self.txn.get(key, db=self.tables[table])
        return None if value is None else self.opened(table, key, value)

    def rows(self, table, sealed=True):
        for key, value in self.txn.cursor(db=self.tables[table]):
            yield key, self.opened(table, key, value) if sealed else value

    def leaf_hashes(self):
        """(sequence, leaf hash) in order, held and dropped; the hash of a held event is recomputed."""
        lanes = {struct.unpack(">I", key)[0]: lane for key, lane in self.rows("lanes")}
        runs = [(struct.unpack(">Q", key)[0], run) for key, run in self.rows("gaps")]
        hashes = {}
        for first, run in runs:
            if run[0] != 0:
                sys.exit("a part of a log: the leaves from %d on are one hash" % first)
            for place in range((len(run) - 13) // 32):
                hashes[first + place] = run[13 + 32 * place : 45 + 32 * place]
        for key, value in self.rows("events", sealed=False):
            for sequence, record in blocks.records(key, value):
                assert sequence not in hashes, "sequence %d is held and dropped" % sequence
                hashes[sequence] = self.leaf_hash(sequence, record, lanes)
        for sequence in range(1, len(hashes) + 1):
            yield hashes[sequence]

    def leaf_hash(self, sequence, record, lanes):
        version, state, lane, recorded_at, key_length = struct.unpack_from(">BBIqB", record)
        assert version == 1 and state in (0, 1)
        stored, offset = record[15:47], 47
        length = 16 if state == 0 else 32
        salt, offset = record[offset : offset + length], offset + length
        key, payload = record[offset : offset + key_length], record[offset + key_length :]
        commitment = sha(salt, payload) if state == 0 else salt
        source, kind, attributes = self.lane(lanes[lane])
        named = b"\1" + text(key) if key else b"\0"
        leaf = b"\1" + struct.pack(">q", recorded_at) + text(source) + text(kind) + named + attributes + commitment
        if sha(b"\0", leaf) != stored:
            sys.exit("event %d is not what was appended" % sequence)
        return stored

    def lane(self, value):
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


if __name__ == "__main__":
    for path in sys.argv[1:]:
        hashes = list(Log(path).leaf_hashes())
        print(json.dumps({"treeSize": str(len(hashes)), "root": root(hashes).hex()}))
