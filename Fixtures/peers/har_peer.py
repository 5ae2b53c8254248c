"""Makes a real HAR: a small server, and a client that mitmproxy or Chromium watches.

usage: har_peer.py mitmproxy MITMDUMP OUT.har OUT.ndjson
       har_peer.py chromium CHROMIUM OUT.har OUT.ndjson

The server speaks a gateway's WebSocket, two of its REST routes and Server-Sent Events. Its own list of the frames becomes
OUT.ndjson, a capture, with which the HAR is compared. Chromium's HAR is made by the exporter of its own developer tools.
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
# Whether the tools have seen so many requests to their end: the page's are itself, two routes, the WebSocket and the stream.
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


async def main(how, program, out, capture):
    async with serve(gateway, "127.0.0.1", 0, process_request=http, compression=None) as server:
        port = server.sockets[0].getsockname()[1]
        make = {"mitmproxy": through_mitmproxy, "chromium": with_chromium}[how]
        await asyncio.wait_for(make(program, port, out), 60)
    with open(capture, "w") as file:
        file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in captured)


# What starts this may have blocked or ignored the signals that end the programs started here.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
signal.signal(signal.SIGINT, signal.default_int_handler)
asyncio.run(main(*sys.argv[1:5]))
