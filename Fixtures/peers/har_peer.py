"""Makes a real HAR: a small server, and a client that mitmproxy or Chromium watches.

usage: har_peer.py mitmproxy MITMDUMP OUT.har OUT.ndjson
       har_peer.py chromium CHROMIUM OUT.har OUT.ndjson
       har_peer.py chat CHROMIUM OUT.har OUT.ndjson
       har_peer.py serve

The server speaks a gateway's WebSocket, two of its REST routes and Server-Sent Events; for chat a protocol of its own, which
shows messages again after a reconnect. Its own list of the frames becomes OUT.ndjson, a capture, with which the HAR is
compared. Chromium's HAR is made by the exporter of its own developer tools. With serve it is the chat's server alone, until
standard input ends; it prints its port.
"""
import asyncio
import base64
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from http import HTTPStatus

from websockets.exceptions import ConnectionClosed
from websockets.legacy.client import connect
from websockets.legacy.server import serve

PAGE = """<!doctype html><title>chat</title><script>
fetch('/api/v1/users/@me/guilds', {headers: {Authorization: 'Bearer header-secret-1'}}).then(a => a.text())
const socket = new WebSocket('ws://' + location.host + '/gateway?token=query-secret-2')
socket.onmessage = event => {
  if (typeof event.data == 'string' && JSON.parse(event.data).op == 10)
    socket.send('{"op":2,"d":{"token":"frame-secret-3"}}')
}
socket.onclose = () => fetch('/api/v1/channels/10/messages?limit=100').then(a => a.text()).then(() => {
  const events = new EventSource('/subscribe/%23work')
  events.onmessage = event => { if (event.lastEventId == '6') { events.close(); document.title = 'done' } }
})
</script>"""

TICKET = {"id": "wrk-1", "title": "Grüße kaufen", "status": "open", "created": "2026-03-04T05:06:07Z"}
EVENTS = "retry: 3000\n\nid: 0\ndata: %s\n\nid: 6\ndata: %s\n\n" % (
    json.dumps(TICKET, ensure_ascii=False), json.dumps(dict(TICKET, status="closed"), ensure_ascii=False))


def message(number, text, **more):
    return dict({"id": str(1000 + number), "channel_id": "10", "author_id": "7", "author_username": "ada",
                 "content": text, "created_at": "2026-01-01T00:00:0%dZ" % number}, **more)


def dispatch(number, name, data):
    return json.dumps({"op": 0, "s": number, "t": name, "d": data}, ensure_ascii=False)


CHANNEL = {"id": "10", "type": 0, "name": "general", "guild_id": "1", "position": 0, "topic": ""}
FRAMES = [
    dispatch(1, "READY", {"session_id": "s", "user_id": "7", "guilds": [1], "read_states": None}),
    dispatch(2, "CHANNEL_CREATE", CHANNEL),
    dispatch(3, "MESSAGE_CREATE", message(1, "grün 🌱")),
    b'{"op":11}',
    dispatch(4, "MESSAGE_CREATE", message(2, "two\nlines")),
    dispatch(5, "MESSAGE_UPDATE", message(1, "grün 🌿", edited_at="2026-01-01T00:00:09Z")),
    dispatch(6, "MESSAGE_DELETE", {"id": "1002", "channel_id": "10"}),
]
ROUTES = {
    "/api/v1/users/@me/guilds": {"data": [{"id": "1", "name": "Home", "owner_id": "7"}]},
    "/api/v1/channels/10/messages": [message(1, "grün 🌿", edited_at="2026-01-01T00:00:09Z")],
}
captured = []

# A chat that nobody has described: rooms and posts by REST, then news over a WebSocket, which is lost once.
CHAT = """<!doctype html><title>bench</title><script>
const get = path => fetch(path).then(answer => answer.json())
let count = 0
function open() {
  const socket = new WebSocket('ws://' + location.host + '/live?token=query-secret-2')
  socket.onopen = () => socket.send('{"type":"join","rooms":["r1"],"token":"frame-secret-3"}')
  socket.onmessage = event => { if (JSON.parse(event.data).type == 'bye') document.title = 'done' }
  socket.onclose = () => { if (++count < 2) open() }
}
get('/api/rooms').then(() => get('/api/rooms/r1/posts?limit=50')).then(open)
</script>"""


def post(key, by, text, at, **more):
    return dict({"key": key, "by": by, "text": text, "at": 1767225600000 + at * 1000}, **more)


POSTS = [post("a1f3", "ada", "Who has the keys to the lab?", 0), post("b7c2", "bo", "I do, until noon.", 60, answers="a1f3")]
LATER = [post("c9d4", "cy", "Lunch at twelve?", 120), post("d0e5", "ada", "Thanks, on my way.", 180, answers="b7c2")]
SAID = [
    [{"type": "post", "room": "r1", "post": LATER[0]}, {"type": "post", "room": "r1", "post": LATER[1]},
     {"type": "edit", "room": "r1", "key": "c9d4", "text": "Lunch at one?"}],
    [{"type": "post", "room": "r1", "post": LATER[1]}, {"type": "gone", "room": "r1", "key": "b7c2"},
     {"type": "post", "room": "r1", "post": post("e2f6", "bo", "They are in your drawer now.", 240, answers="d0e5")},
     {"type": "bye"}],
]
CHAT_ROUTES = {"/api/rooms": [{"id": "r1", "name": "Lab"}], "/api/rooms/r1/posts": {"room": "r1", "posts": POSTS}}
connections = []


def note(direction, data):
    raw = {"raw": data} if isinstance(data, str) else {"rawBase64": base64.b64encode(data).decode()}
    captured.append(dict({"t_ms": int(time.time() * 1000), "dir": direction}, **raw))


async def gateway(socket, path):
    async def send(data):
        note("in", data)
        await socket.send(data)
    await send('{"op":10,"d":{"heartbeat_interval":41250}}')
    note("out", await socket.recv())
    for frame in FRAMES:
        await send(frame)
    await socket.close(4000, "go on")


async def chat(socket, path):
    connections.append(path)
    note("out", await socket.recv())
    for said in SAID[min(len(connections), len(SAID)) - 1]:
        text = json.dumps(said)
        note("in", text)
        await socket.send(text)
    await socket.close(1012, "restart")


async def chat_http(path, headers):
    route = path.split("?")[0]
    if route == "/live":
        return None
    if route == "/":
        return HTTPStatus.OK, [("Content-Type", "text/html")], CHAT.encode()
    if route in CHAT_ROUTES:
        return HTTPStatus.OK, [("Content-Type", "application/json")], json.dumps(CHAT_ROUTES[route]).encode()
    return HTTPStatus.NOT_FOUND, [("Content-Type", "text/plain")], b"nothing here\n"


async def http(path, headers):
    route = path.split("?")[0]
    if route == "/gateway":
        return None
    if route == "/":
        return HTTPStatus.OK, [("Content-Type", "text/html")], PAGE.encode()
    if route.startswith("/subscribe/"):
        return HTTPStatus.OK, [("Content-Type", "text/event-stream")], EVENTS.encode()
    if route in ROUTES:
        body = json.dumps(ROUTES[route], ensure_ascii=False).encode()
        return HTTPStatus.OK, [("Content-Type", "application/json")], body
    return HTTPStatus.NOT_FOUND, [("Content-Type", "text/plain")], b"nothing here\n"


async def through_mitmproxy(program, port, out):
    folder = tempfile.mkdtemp()
    proxy = await asyncio.create_subprocess_exec(
        program, "--mode", "reverse:http://127.0.0.1:%d" % port, "--listen-host", "127.0.0.1", "--listen-port", "0",
        "--set", "hardump=" + out, "--set", "confdir=" + folder, "--set", "termlog_verbosity=info",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=dict(os.environ, PYTHONUNBUFFERED="1"))
    try:
        while b"listening at" not in (line := await proxy.stdout.readline()):
            if not line:
                raise SystemExit("mitmdump ended before it listened")
        base = "127.0.0.1:" + line.decode().split("listening at", 1)[1].split(":")[-1].strip().rstrip(".")

        def get(path, headers={}):
            request = urllib.request.Request("http://%s%s" % (base, path), headers=headers)
            return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10).read()
        await asyncio.to_thread(get, "/api/v1/users/@me/guilds", {"Authorization": "Bearer header-secret-1"})
        async with connect("ws://%s/gateway?token=query-secret-2" % base, compression=None) as socket:
            try:
                async for data in socket:
                    if isinstance(data, str) and json.loads(data)["op"] == 10:
                        await socket.send('{"op":2,"d":{"token":"frame-secret-3"}}')
            except ConnectionClosed:
                pass
        await asyncio.to_thread(get, "/api/v1/channels/10/messages?limit=100")
        await asyncio.to_thread(get, "/subscribe/%23work")
    finally:
        if proxy.returncode is None:
            proxy.send_signal(signal.SIGINT)
        await proxy.communicate()


class DevTools:
    """Chromium's remote protocol: commands and their answers."""

    def __init__(self, socket):
        self.socket = socket
        self.number = 0

    async def call(self, method, session=None, **params):
        self.number += 1
        command = {"id": self.number, "method": method, "params": params}
        await self.socket.send(json.dumps(dict(command, sessionId=session) if session else command))
        while True:
            answer = json.loads(await self.socket.recv())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit("%s: %s" % (method, answer["error"]))
                return answer["result"]

    async def attach(self, target):
        return (await self.call("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]

    async def evaluate(self, session, text):
        answer = await self.call(
            "Runtime.evaluate", session, expression=text, awaitPromise=True, returnByValue=True)
        return answer["result"].get("value")

    async def until(self, session, text):
        while not await self.evaluate(session, text):
            await asyncio.sleep(0.05)


EXPORT = """(async () => {
  const [{NetworkLog}, {Writer}] = await Promise.all([import('./models/logs/logs.js'), import('./models/har/har.js')])
  let text = ''
  const stream = {write: async part => { text += part }}
  const progress = {canceled: false, setTitle() {}, setTotalWork() {}, setWorked() {}, incrementWorked() {}, done() {},
                    isCanceled() { return false }, createSubProgress() { return this }}
  await Writer.Writer.write(stream, NetworkLog.NetworkLog.instance().requests(), {sanitize: false}, progress)
  return text
})()"""
# Whether the tools have seen so many requests to their end: the page's are itself, two routes, and two of WebSockets and streams.
HAS_SEEN = """import('./models/logs/logs.js').then(logs =>
  logs.NetworkLog.NetworkLog.instance().requests().filter(request => request.finished).length >= %d)"""
IS_LISTENING = """import('./core/sdk/sdk.js').then(sdk =>
  !!sdk.TargetManager.TargetManager.instance().primaryPageTarget()?.model(sdk.NetworkManager.NetworkManager))"""


async def with_chromium(program, port, out):
    folder = tempfile.mkdtemp()
    browser = await asyncio.create_subprocess_exec(
        program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        "--remote-debugging-port=0", "--remote-allow-origins=*", "--user-data-dir=" + folder, "about:blank",
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        while b"DevTools listening on" not in (line := await browser.stderr.readline()):
            if not line:
                raise SystemExit("chromium ended before it listened")
        url = line.decode().split()[-1]
        drain = asyncio.create_task(browser.stderr.read())
        async with connect(url, max_size=None, ping_interval=None) as socket:
            tools = DevTools(socket)
            targets = (await tools.call("Target.getTargets"))["targetInfos"]
            target = [each for each in targets if each["type"] == "page"][0]["targetId"]
            debugged = "ws=%s/devtools/page/%s" % (url.split("/")[2], target)
            window = await tools.call(
                "Target.createTarget", url="devtools://devtools/bundled/inspector.html?%s&panel=network" % debugged)
            front = await tools.attach(window["targetId"])
            await tools.until(front, "document.readyState == 'complete'")
            await tools.until(front, IS_LISTENING)
            page = await tools.attach(target)
            # The tools ask for what goes over the network some time after they are there.
            while not await tools.evaluate(front, HAS_SEEN % 1):
                await tools.call("Page.navigate", page, url="http://127.0.0.1:%d/nothing" % port)
                await asyncio.sleep(0.05)
            await tools.call("Page.navigate", page, url="http://127.0.0.1:%d/" % port)
            await tools.until(page, "document.title == 'done'")
            await tools.until(front, HAS_SEEN % 5)
            text = await tools.evaluate(front, EXPORT)
        drain.cancel()
        with open(out, "w") as file:
            file.write(text)
    finally:
        if browser.returncode is None:
            browser.terminate()
        await browser.wait()


async def serve_chat():
    async with serve(chat, "127.0.0.1", 0, process_request=chat_http) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.to_thread(sys.stdin.read)


async def main(how, program=None, out=None, capture=None):
    if how == "serve":
        return await serve_chat()
    handlers = (chat, chat_http) if how == "chat" else (gateway, http)
    async with serve(handlers[0], "127.0.0.1", 0, process_request=handlers[1], compression=None) as server:
        port = server.sockets[0].getsockname()[1]
        make = {"mitmproxy": through_mitmproxy, "chromium": with_chromium, "chat": with_chromium}[how]
        await asyncio.wait_for(make(program, port, out), 60)
    with open(capture, "w") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in captured)


# What starts this may have blocked or ignored the signals that end the programs started here.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
signal.signal(signal.SIGINT, signal.default_int_handler)
asyncio.run(main(*sys.argv[1:5]))
