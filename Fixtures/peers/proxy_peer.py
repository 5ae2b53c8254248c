"""An echo of python3-websockets and its client, for tests of the proxy.

usage: proxy_peer.py serve                 prints its port; ends with its standard input
       proxy_peer.py talk PORT OUT.ndjson  sends messages of many sizes, takes each back, and lists what it sent as JSON lines
       proxy_peer.py bomb PORT             takes a message that expands a thousand times
       proxy_peer.py observe PORT          says what it shows, in good and bad ways
"""
import asyncio
import base64
import json
import sys
import urllib.error
import urllib.request

import websockets

PATIENCE = {"open_timeout": 3600, "ping_interval": None, "close_timeout": 3600, "max_size": None}
BOMB = 80 << 20


async def echo(socket, path=None):
    async for message in socket:
        await socket.send("x" * BOMB if message == "bomb" else message)


async def serve():
    async with websockets.serve(echo, "127.0.0.1", 0, ping_interval=None, max_size=None) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


async def talk(port, out):
    sizes = [1, 2, 125, 126, 65535, 65536, 1 << 20] + [7 * n for n in range(1, 60)]
    messages = [("grün %d " % n * (n // 6 + 1))[:n] for n in sizes] + [bytes(range(256)) * 3]
    async with websockets.connect("ws://127.0.0.1:%s/live?token=secret-of-the-query" % port, **PATIENCE) as socket:
        assert socket.response_headers.get("sec-websocket-extensions", "").startswith("permessage-deflate")
        for message in messages:
            # In fragments now and then, as the library sends an iterable of pieces.
            await socket.send([message[:9], message[9:]] if len(message) % 5 == 0 and len(message) > 9 else message)
            assert await socket.recv() == message
        await socket.send("secret-of-the-query comes back")
        assert await socket.recv() == "secret-of-the-query comes back"
    with open(out, "w") as file:
        for message in messages:
            data = message if isinstance(message, bytes) else message.encode()
            print(base64.b64encode(data).decode(), file=file)


async def bomb(port):
    async with websockets.connect("ws://127.0.0.1:%s/live" % port, **PATIENCE) as socket:
        await socket.send("bomb")
        assert len(await socket.recv()) == BOMB
        await socket.send("after it")
        assert await socket.recv() == "after it"


def post(port, body, **headers):
    request = urllib.request.Request("http://127.0.0.1:%s/_eventlog/observed" % port, body.encode(), headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def observe(port):
    plain = {"Content-Type": "text/plain"}
    assert post(port, json.dumps({"channel": "r1", "messages": []}), **plain) == 202
    assert post(port, json.dumps({"channel": "r2"}), Origin="http://localhost:3000", **plain) == 202
    assert post(port, json.dumps({"channel": "r3"}), Origin="https://elsewhere.example", **plain) == 403
    assert post(port, json.dumps({"channel": "r4"}), Host="elsewhere.example", **plain) == 403
    assert post(port, "[]", **plain) == 400
    assert post(port, "{", **plain) == 400
    assert post(port, "{}", **{"Content-Type": "text/html"}) == 400
    assert post(port, json.dumps({"text": "x" * (1 << 20)}), **plain) == 400


how, arguments = sys.argv[1], sys.argv[2:]
if how == "observe":
    observe(*arguments)
else:
    asyncio.run({"serve": serve, "talk": talk, "bomb": bomb}[how](*arguments))
