"""Servers of python3-aiohttp over TLS: another program's HTTP, for tests. Prints its port.

/subscribe: Server-Sent Events with ids 1 to COUNT, in pieces that fit no line; each connection breaks off after half of
what is left, until the last sends all and the next answer is 204. /database/...: CloudKit's records/query and
records/lookup, whose token is good for one request; the third request is answered with 503.
"""
import asyncio
import json
import ssl
import sys

from aiohttp import web

count = int(sys.argv[1])
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2], sys.argv[3])
token = 1
requests = 0


def event(number):
    end = ("\n", "\r\n", "\r")[number % 3]
    text = "id: %d%sdata: {\"title\": \"grün %d\"}%s%s" % (number, end, number, end, end)
    return text.encode()


async def subscribe(request):
    if request.headers.get("Authorization") != "Bearer tok-1":
        return web.Response(status=401, text="not you: %s" % request.headers.get("Authorization"))
    last = int(request.headers.get("Last-Event-ID", "0"))
    if last >= count:
        return web.Response(status=204)
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    left = count - last
    upto = count if left < 20 else last + left // 2
    body = b"".join(event(number) for number in range(last + 1, upto + 1))
    for start in range(0, len(body), 37):
        await response.write(body[start:start + 37])
    if upto < count:
        await response.write(b"id: 99999\ndata: never fini")
        request.transport.abort()
    return response


def records(kind):
    tags = {"Session": ["s%d" % number for number in range(5)], "Prompt": ["p0", "p1"]}
    return [{"recordName": name, "recordChangeTag": "1", "recordType": kind, "created": "ü"} for name in tags[kind]]


async def database(request):
    global token, requests
    requests += 1
    if request.query.get("ckWebAuthToken") != "w+%d/=" % token or request.query.get("ckAPIToken") != "k3y":
        return web.json_response({"serverErrorCode": "AUTHENTICATION_REQUIRED"}, status=421)
    token += 1
    headers = {"X-Apple-CloudKit-Web-Auth-Token": "w+%d/=" % token}
    if requests == 3:
        return web.json_response({"serverErrorCode": "TRY_AGAIN_LATER"}, status=503, headers=headers)
    body = json.loads(await request.text())
    if request.path.endswith("lookup"):
        found = [{"recordName": each["recordName"], "serverErrorCode": "NOT_FOUND"} for each in body["records"]]
        return web.json_response({"records": found}, headers=headers)
    all_of_them = records(body["query"]["recordType"])
    start = int(body.get("continuationMarker", "0"))
    answer = {"records": all_of_them[start:start + 2]}
    if start + 2 < len(all_of_them):
        answer["continuationMarker"] = str(start + 2)
    text = json.dumps(answer, indent=2, ensure_ascii=False)
    return web.Response(text=text, content_type="application/json", headers=headers)


async def main():
    application = web.Application()
    application.router.add_get("/subscribe", subscribe)
    application.router.add_post("/database/{rest:.*}", database)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    print(site._server.sockets[0].getsockname()[1], flush=True)
    # Ends with the test: its end of standard input closes.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


asyncio.run(main())
