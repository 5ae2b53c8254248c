"""An event stream served by uvicorn, and a client of it from Python's own library, for tests of the proxy.

usage: stream_peer.py serve plain|sse-starlette  prints its port; ends with its standard input
       stream_peer.py take PORT OUT              writes the bytes of the whole stream
       stream_peer.py leave PORT                 goes after the third event of a stream that never ends
"""
import asyncio
import http.client
import socket
import sys
import threading

EVENTS = [{"event": "message", "id": str(n), "data": '{"id": %d, "text": "grün %d"}' % (n, n)} for n in range(50)]
EVENTS += [{"data": "one line\nand another"}, {"data": "x" * 100_000}, {"event": "done", "data": "", "retry": 3000}]


async def events(scope):
    for event in EVENTS:
        yield event
        await asyncio.sleep(0)
    while scope["path"] == "/endless":
        yield {"data": "more"}
        await asyncio.sleep(0.01)


def line(name, value):
    return "".join("%s: %s\n" % (name, part) for part in str(value).split("\n"))


async def plain(scope, receive, send):
    head = {"status": 200, "headers": [(b"content-type", b"text/event-stream; charset=utf-8")]}
    await send({"type": "http.response.start", **head})
    async for event in events(scope):
        body = "".join(line(*member) for member in event.items()) + "\n"
        await send({"type": "http.response.body", "body": body.encode(), "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def starlette(scope, receive, send):
    from sse_starlette.sse import EventSourceResponse

    await EventSourceResponse(events(scope))(scope, receive, send)


def serve(how):
    import uvicorn

    app = {"plain": plain, "sse-starlette": starlette}[how]
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_level="error"))
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))

    def end():
        sys.stdin.read()
        server.should_exit = server.force_exit = True

    threading.Thread(target=end, daemon=True).start()
    print(listener.getsockname()[1], flush=True)
    server.run(sockets=[listener])


def ask(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", int(port))
    connection.request("GET", path, headers={"Accept": "text/event-stream"})
    answer = connection.getresponse()
    assert answer.status == 200 and answer.getheader("content-type").startswith("text/event-stream")
    return connection, answer


def take(port, out):
    with open(out, "wb") as file:
        file.write(ask(port, "/events")[1].read())


def leave(port):
    connection, answer = ask(port, "/endless")
    ends = 0
    while ends < 3:
        ends += answer.readline().strip() == b""
    connection.close()


{"serve": serve, "take": take, "leave": leave}[sys.argv[1]](*sys.argv[2:])
