"""A small chat of python3-websockets and its page, for tests. Prints its port.

The page is a client with a bug: what comes again after a reconnect it shows twice. After each message it says what it shows to
/_eventlog/observed. The server sends three posts on the first connection and keeps it; on the second it repeats them, as chats do after a
reconnect, and goes on with a fourth, an edit and a deletion.
"""
import asyncio
import http
import json
import sys

import websockets

PAGE = """<!doctype html><title>chat</title><ul></ul><script>
const shown = []
let received = 0
let said = Promise.resolve()
function say() {
  const messages = shown.map(post => ({id: post.id, content: post.text}))
  document.querySelector('ul').replaceChildren(...shown.map(post => {
    const item = document.createElement('li')
    item.textContent = post.text
    return item
  }))
  const body = JSON.stringify({received, path: '/live', channel: 'r1', messages})
  // One after another, and all before the next connection: the count is of the newest one.
  said = said.then(() => fetch('/_eventlog/observed', {method: 'POST', body}))
}
function open() {
  const socket = new WebSocket('ws://' + location.host + '/live')
  received = 0
  socket.onmessage = event => {
    received += 1
    const news = JSON.parse(event.data)
    if (news.type == 'post') shown.push(news.post)
    if (news.type == 'edit') shown.filter(post => post.id == news.id).forEach(post => post.text = news.text)
    if (news.type == 'gone') for (let i = shown.length; i--;) if (shown[i].id == news.id) shown.splice(i, 1)
    say()
  }
  socket.onclose = () => said.then(() => setTimeout(open, 20))
}
open()
</script>"""


def post(number):
    return {"type": "post", "room": "r1", "post": {"id": "p%d" % number, "by": "ada", "text": "text %d" % number}}


FIRST = [post(1), post(2), post(3)]
LATER = [post(4), {"type": "edit", "room": "r1", "id": "p2", "text": "text 2, edited"}, {"type": "gone", "room": "r1", "id": "p1"}]
connections = 0


async def chat(socket, path=None):
    global connections
    connections += 1
    for news in FIRST if connections == 1 else FIRST + LATER:
        await socket.send(json.dumps(news))
    await socket.wait_closed()


async def page(path, headers):
    if path == "/":
        return http.HTTPStatus.OK, [("Content-Type", "text/html; charset=utf-8")], PAGE.encode()
    if path != "/live":
        return http.HTTPStatus.NOT_FOUND, [], b""


async def main():
    async with websockets.serve(chat, "127.0.0.1", 0, process_request=page, ping_interval=None) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        # Ends with the test: its end of standard input closes.
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
