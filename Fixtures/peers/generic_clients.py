"""Clients of other people's libraries (websockets, aiohttp) that ask what is played of an app that nobody knows.

usage: generic_clients.py ws ws://HOST:PORT PATH=COUNT=SEND...
       generic_clients.py http|sse http://HOST:PORT "METHOD PATH"...

Prints one JSON object for each PATH or request, in their order. A client of ws sends SEND messages, takes COUNT, and then
waits for the end if SEND begins with "-"."""
import asyncio
import base64
import json
import sys

import aiohttp
import websockets

FORM, URL, WHAT = sys.argv[1], sys.argv[2], sys.argv[3:]


def coded(data):
    return base64.b64encode(data.encode() if isinstance(data, str) else data).decode()


async def ws(what):
    path, count, send = what.rsplit("=", 2)
    got, binary = [], []
    socket = await websockets.connect(URL + path, subprotocols=["chat.v1", "chat.v0"], open_timeout=3600)
    for number in range(abs(int(send))):
        await socket.send(json.dumps({"number": number}))
    while len(got) < int(count):
        data = await socket.recv()
        got.append(coded(data))
        binary.append(not isinstance(data, str))
    if send.startswith("-"):
        await socket.wait_closed()
    else:
        await socket.close()
    return {"got": got, "binary": binary, "code": socket.close_code, "protocol": socket.subprotocol}


async def http(what, session):
    method, path = what.split(" ", 1)
    async with session.request(method, URL + path) as answer:
        return {"status": answer.status, "body": coded(await answer.read())}


async def main():
    if FORM == "ws":
        return await asyncio.gather(*map(ws, WHAT))
    async with aiohttp.ClientSession() as session:
        return [await http(what, session) for what in WHAT]


for answer in asyncio.run(asyncio.wait_for(main(), 60)):
    print(json.dumps(answer), flush=True)
