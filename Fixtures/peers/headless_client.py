"""A small chat client without a screen, with a bug: it keeps its list across a RESUME and appends what is replayed.

Walks through what $EVENTLOG_PLAY_URL plays, and ends with 1 if its list shows a message twice, else with 0."""
import base64
import json
import os
import socket
import struct
import sys
import urllib.request

URL = os.environ["EVENTLOG_PLAY_URL"]
HOST, PORT = URL[len("http://"):].rsplit(":", 1)


class Closed(Exception):
    pass


class Socket:
    def __init__(self):
        self.socket = socket.create_connection((HOST, int(PORT)))
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((
            "GET /gateway HTTP/1.1\r\nHost: %s:%s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n" % (HOST, PORT, key)).encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.more()
        self.buffer = self.buffer.split(b"\r\n\r\n", 1)[1]
        self.socket.settimeout(0.05)

    def more(self):
        data = self.socket.recv(65536)
        if not data:
            raise Closed()
        self.buffer += data

    def send(self, value):
        data = json.dumps(value).encode()
        head = struct.pack("!BB", 0x81, 0x80 | len(data)) if len(data) < 126 else \
            struct.pack("!BBH", 0x81, 0x80 | 126, len(data))
        self.socket.sendall(head + b"\0\0\0\0" + data)

    def take(self, count):
        while len(self.buffer) < count:
            self.more()
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def frame(self):
        """The next message; None if nothing comes for a while."""
        try:
            while len(self.buffer) < 2:
                self.more()
        except socket.timeout:
            return None
        self.socket.settimeout(10)
        try:
            code, length = self.take(2)
            if length == 126:
                length = struct.unpack("!H", self.take(2))[0]
            elif length == 127:
                length = struct.unpack("!Q", self.take(8))[0]
            data = self.take(length)
        finally:
            self.socket.settimeout(0.05)
        if code & 0x0F == 8:
            raise Closed()
        return data


def is_done():
    return json.load(urllib.request.urlopen(URL + "/_play/position"))["done"]


def main():
    messages, session, number = [], None, 0
    while True:
        connection, is_asked = Socket(), False
        try:
            while True:
                data = connection.frame()
                if data is None:
                    if is_done() and not is_asked:
                        # What is on its way comes before the answer.
                        connection.send({"op": 1, "d": number})
                        is_asked = True
                    continue
                try:
                    frame = json.loads(data)
                except ValueError:
                    continue
                if frame["op"] == 10 and session:
                    connection.send({"op": 6, "d": {"token": "t", "session_id": session, "seq": number}})
                elif frame["op"] == 10:
                    connection.send({"op": 2, "d": {"token": "t"}})
                elif frame["op"] == 11 and is_asked:
                    return 1 if len(set(messages)) < len(messages) else 0
                elif frame["op"] == 0:
                    number = frame["s"]
                    if frame["t"] == "READY":
                        session = frame["d"]["session_id"]
                    elif frame["t"] == "MESSAGE_CREATE":
                        messages.append(frame["d"]["id"])
        except (Closed, ConnectionError):
            if is_done():
                return 1 if len(set(messages)) < len(messages) else 0


sys.exit(main())
