"""A Phoenix server of python3-websockets, serializer 2.0.0: another program's WebSocket, for tests. Prints its port.

Answers joins, says "subscribed", sends COUNT changes, and drops the first connection.
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
    async for text in socket:
        join_ref, ref, topic, event, payload = json.loads(text)
        if event == "heartbeat":
            await socket.send(json.dumps([None, ref, topic, "phx_reply", {"status": "ok", "response": {}}]))
        elif event == "phx_join":
            asked = payload["config"]["postgres_changes"]
            bindings = [dict(binding, id=place) for place, binding in enumerate(asked)]
            answer = {"status": "ok", "response": {"postgres_changes": bindings}}
            await socket.send(json.dumps([join_ref, ref, topic, "phx_reply", answer]))
            ready = {"extension": "postgres_changes", "status": "ok", "message": "Subscribed to PostgreSQL"}
            await socket.send(json.dumps([join_ref, None, topic, "system", ready]))
            for place in range(count):
                data = {"type": "INSERT", "table": asked[0]["table"], "record": {"id": "%d-%d" % (number, place)}}
                await socket.send(json.dumps([join_ref, None, topic, "postgres_changes", {"ids": [0], "data": data}]))
            if number == 1:
                # An abort takes back what the client has not read; its pong says that it has read everything.
                await (await socket.ping())
                socket.transport.abort()
                return


async def main():
    # However slow the machine is, nothing is given up: a test ends it.
    patience = {"open_timeout": 3600, "ping_interval": None, "close_timeout": 3600}
    async with websockets.serve(serve, "127.0.0.1", 0, **patience) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        # Ends with the test: its end of standard input closes.
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
