"""HTTP/1.1 and WebSockets on asyncio's streams, with faults: nothing but the standard library, so that a test can cut
any answer and any frame at any byte."""
import asyncio
import base64
import collections
import hashlib
import random
import time
import urllib.parse


class Faults:
    """The fault plan: what goes wrong when, decided by a seed of its own for each server."""

    counts = collections.Counter()
    on = True

    def __init__(self, name, seed, share=1.0):
        self.name = name
        self.random = random.Random("%s/%s" % (seed, name))
        self.share = share

    def pick(self, chances):
        """One of the kinds, each with its chance in percent; None for most calls, and once the plan has ended."""
        place = self.random.random() * 100
        if not Faults.on:
            return None
        for kind, chance in chances.items():
            place -= chance * self.share
            if place < 0:
                return self.note(kind)
        return None

    def note(self, kind):
        Faults.counts["%s %s" % (self.name, kind)] += 1
        return kind


class Request:
    def __init__(self, method, target, headers, body):
        self.method, self.target, self.headers, self.body = method, target, headers, body
        path, _, query = target.partition("?")
        self.path = urllib.parse.unquote(path)
        self.query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))


async def read_request(reader):
    """The next request of a connection; None at its end."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    method, target, _ = head[0].split(" ", 2)
    fields = (line.partition(":") for line in head[1:] if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in fields}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(method, target, headers, body)


HTTP_CHANCES = {"drop": 2, "half": 2, "500": 4, "429": 1, "stall": 1, "slow": 4}


async def answer(writer, faults, status=200, body=b"", headers=()):
    """Writes an answer, or what a fault leaves of it; whether the connection may go on."""
    fault = faults.pick(HTTP_CHANCES)
    if fault == "drop":
        return abort(writer)
    if fault == "stall":
        await asyncio.sleep(faults.random.uniform(0.1, 0.4))
        return abort(writer)
    if fault in ("500", "429"):
        status, body = int(fault), b'{"message":"try again"}'
        headers = [("Retry-After", "1")] if fault == "429" else []
    bytes = head(status, [("Content-Length", str(len(body)))] + list(headers)) + body
    if fault == "half":
        writer.write(bytes[: len(bytes) - len(body) // 2 - 1])
        await drain(writer)
        await asyncio.sleep(0.01)
        return abort(writer)
    await write_pieces(writer, bytes, 5 if fault == "slow" else 1)
    return True


def head(status, headers):
    lines = ["HTTP/1.1 %d Status" % status] + ["%s: %s" % pair for pair in headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def write_pieces(writer, bytes, count):
    """Writes in so many pieces, some of which end within a character."""
    size = max(1, -(-len(bytes) // count))
    for start in range(0, len(bytes), size):
        if writer.is_closing():
            return
        writer.write(bytes[start : start + size])
        await drain(writer)
        if count > 1:
            await asyncio.sleep(0.01)


async def drain(writer):
    try:
        await writer.drain()
    except ConnectionError:
        pass


def abort(writer):
    writer.transport.abort()
    return False


class Stream:
    """What goes out on one long connection: messages in order, each written whole or cut by a fault."""

    # The longest that a message waited to be written, by the server.
    lags = {}

    def __init__(self, writer, faults, chances):
        self.writer, self.faults, self.chances = writer, faults, chances
        self.queue = asyncio.Queue()
        # Every message that may have arrived, in order.
        self.sent = []
        self.is_open = True

    def push(self, message, bytes):
        """Queues a message of so many bytes on the wire."""
        if self.is_open:
            self.queue.put_nowait((message, bytes, time.monotonic()))

    async def run(self):
        """Writes what is queued until the connection ends or a fault ends it."""
        while self.is_open:
            message, bytes, pushed = await self.queue.get()
            fault = self.faults.pick(self.chances) if message is not None else None
            if fault == "drop":
                return self.drop()
            if fault == "stall":
                await asyncio.sleep(self.faults.random.uniform(0.2, 1.0))
                return self.drop()
            if fault == "half":
                self.writer.write(bytes[: len(bytes) // 2])
                await asyncio.sleep(0.01)
                return self.drop()
            if message is not None:
                self.sent.append(message)
            await write_pieces(self.writer, bytes, 4 if fault == "slow" else 1)
            name = self.faults.name
            Stream.lags[name] = max(Stream.lags.get(name, 0), time.monotonic() - pushed)

    def drop(self):
        """Ends the connection as a network does: without a word."""
        self.is_open = False
        abort(self.writer)


STREAM_CHANCES = {"drop": 1, "half": 1, "stall": 0.5, "slow": 2}


class WebSocket(Stream):
    @classmethod
    def accept(cls, request, writer, faults):
        """Answers the upgrade; None where it is no such request."""
        key = request.headers.get("sec-websocket-key")
        if key is None:
            return None
        digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        fields = [("Upgrade", "websocket"), ("Connection", "Upgrade")]
        fields.append(("Sec-WebSocket-Accept", base64.b64encode(digest).decode()))
        writer.write(head(101, fields))
        return cls(writer, faults, STREAM_CHANCES)

    def send(self, text):
        self.push(text, frame(1, text.encode()))

    def control(self, opcode, payload=b""):
        self.push(None, frame(opcode, payload))

    async def frames(self, reader):
        """What comes in: (opcode, payload), until the end."""
        while True:
            try:
                first, second = await reader.readexactly(2)
                size = second & 127
                if size > 125:
                    size = int.from_bytes(await reader.readexactly(2 if size == 126 else 8), "big")
                mask = await reader.readexactly(4)
                payload = await reader.readexactly(size)
            except (asyncio.IncompleteReadError, ConnectionError):
                return
            yield first & 15, bytes(byte ^ mask[place & 3] for place, byte in enumerate(payload))


def frame(opcode, payload):
    size = len(payload)
    if size < 126:
        return bytes([128 | opcode, size]) + payload
    if size < 65536:
        return bytes([128 | opcode, 126]) + size.to_bytes(2, "big") + payload
    return bytes([128 | opcode, 127]) + size.to_bytes(8, "big") + payload
