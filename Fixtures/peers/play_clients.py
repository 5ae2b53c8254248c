"""Clients of other people's libraries (websockets, aiohttp) that walk through what is played.

usage: play_clients.py gateway|realtime|sse http://HOST:PORT COUNT

Prints each message that came in, one JSON string a line, until COUNT have come."""
import asyncio
import json
import sys

import aiohttp
import websockets

FORM, URL, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3])
SOCKET = "ws" + URL[len("http"):]
got = []


def take(text):
    got.append(text)
    print(json.dumps(text), flush=True)
    return len(got) >= COUNT


async def gateway():
    session, number = None, 0
    async with aiohttp.ClientSession() as http:
        async with http.post(URL + "/api/v1/auth/login", json={"username": "u", "password": "p"}) as answer:
            token = (await answer.json())["access_token"]
        while len(got) < COUNT:
            try:
                async with websockets.connect(SOCKET + "/gateway", open_timeout=3600) as socket:
                    async for text in socket:
                        is_last = take(text)
                        try:
                            frame = json.loads(text)
                        except ValueError:
                            frame = {"op": None}
                        if frame["op"] == 10 and session:
                            data = {"token": token, "session_id": session, "seq": number}
                            await socket.send(json.dumps({"op": 6, "d": data}))
                            await socket.send(json.dumps({"op": 1, "d": number}))
                        elif frame["op"] == 10:
                            await socket.send(json.dumps({"op": 2, "d": {"token": token}}))
                        elif frame["op"] == 0:
                            number = frame["s"]
                            if frame["t"] == "READY":
                                session = frame["d"]["session_id"]
                                async with http.get(URL + "/api/v1/users/@me/guilds") as answer:
                                    assert "data" in await answer.json()
                        if is_last:
                            return
                if socket.close_code == 4009:
                    session = None
            except websockets.exceptions.ConnectionClosed as closed:
                if closed.rcvd and closed.rcvd.code == 4009:
                    session = None


async def realtime():
    while len(got) < COUNT:
        try:
            async with websockets.connect(SOCKET + "/realtime/v1/websocket?vsn=1.0.0", open_timeout=3600) as socket:
                for place, table in enumerate(["notes", "files"]):
                    binding = {"event": "*", "schema": "public", "table": table}
                    await socket.send(json.dumps({
                        "topic": "realtime:public:" + table, "event": "phx_join", "ref": str(place + 1),
                        "join_ref": str(place + 1), "payload": {"config": {"postgres_changes": [binding]}}}))
                async for text in socket:
                    if take(text):
                        async with aiohttp.ClientSession() as http:
                            async with http.get(URL + "/rest/v1/notes?select=*&id=eq.n-2") as answer:
                                assert [row["id"] for row in await answer.json()] == ["n-2"]
                        return
        except websockets.exceptions.ConnectionClosed:
            pass


async def sse():
    async with aiohttp.ClientSession() as http:
        while len(got) < COUNT:
            try:
                async with http.get(URL + "/subscribe/%23work", headers={"Accept": "text/event-stream"}) as answer:
                    assert answer.content_type == "text/event-stream"
                    block = b""
                    async for line in answer.content:
                        block += line
                        if not line.strip():
                            if take(block.decode()):
                                return
                            block = b""
            except aiohttp.ClientPayloadError:
                pass


asyncio.run({"gateway": gateway, "realtime": realtime, "sse": sse}[FORM]())
