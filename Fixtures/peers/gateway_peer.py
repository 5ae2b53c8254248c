"""A gateway of python3-websockets: another program's WebSocket, for tests. Prints its port.

HELLO, READY after IDENTIFY, op 11 for op 1, COUNT dispatches, then a close with code 4000 on the first connection; on
the second RESUMED with the dispatches missed, Discord style. The messages of the client go to standard error.
"""
import asyncio
import json
import sys

import websockets

count = int(sys.argv[1])
connections = 0


async def serve(socket, path=None):
    global connections
    connections += 1
    number = connections
    await socket.send(json.dumps({"op": 10, "d": {"heartbeat_interval": 45000}}))
    async for text in socket:
        message = json.loads(text)
        if message["op"] == 1:
            await socket.send('{"op":11}')
        elif message["op"] == 2:
            ready = {"session_id": "S", "resume_gateway_url": "ws://127.0.0.1:%d" % port}
            await socket.send(json.dumps({"op": 0, "d": ready, "s": 1, "t": "READY"}))
            for place in range(count):
                data = {"id": str(place), "content": "grün %d" % place}
                text = json.dumps({"op": 0, "d": data, "s": place + 2, "t": "MESSAGE_CREATE"}, ensure_ascii=False)
                # In fragments, as the library sends an iterable of pieces.
                await (socket.send([text[:9], text[9:20], text[20:]]) if place % 3 == 0 else socket.send(text))
            await socket.ping()
            await socket.close(4000, "go on")
            return
        elif message["op"] == 6:
            first = message["d"]["seq"] + 1
            await socket.send(json.dumps({"op": 0, "d": {"id": "late"}, "s": first, "t": "MESSAGE_CREATE"}))
            await socket.send(json.dumps({"op": 0, "d": {}, "s": first + 1, "t": "RESUMED"}))


async def main():
    global port
    # However slow the machine is, nothing is given up: a test ends it.
    patience = {"open_timeout": 3600, "ping_interval": None, "close_timeout": 3600}
    async with websockets.serve(serve, "127.0.0.1", 0, compression=None, **patience) as server:
        port = server.sockets[0].getsockname()[1]
        print(port, flush=True)
        # Ends with the test: its end of standard input closes.
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
