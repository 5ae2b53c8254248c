"""Measures ship and pull, of a tree and of a stream, beside cp of the same bytes and beside a bare loop of libnats.

courier.py PROGRAM [--events N] [--json FILE]: the program has the trait NATS. Needs nats-server, cc and libnats-dev for the stream; without
them it measures trees alone. Prints seconds, processor seconds, and how many times as fast as the comparison each is.
"""
import argparse, json, os, resource, shutil, socket, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--events", type=int, default=1_000_000)
parser.add_argument("--json")
options = parser.parse_args()
folder = tempfile.mkdtemp(prefix="eventlog-courier-")
rows = []


def path(name): return os.path.join(folder, name)


def frames(first, count, name):
    with open(path(name), "w") as out:
        for number in range(first, first + count):
            message = {"id": str(9000 + number), "channel_id": str(10 + number % 40), "author_id": str(5 + number % 200),
                       "content": f"text {number} and more words of {number * 7919 % 1000003} here", "created_at": "2026-03-01T12:00:01Z"}
            frame = {"op": 0, "s": number + 1, "t": "MESSAGE_CREATE", "d": message}
            line = {"t_ms": 1772366400000 + number * 10, "dir": "in", "raw": json.dumps(frame)}
            out.write(json.dumps(line) + "\n")
    tool("ingest", path("L"), "capture", path(name), "--kind", "gateway", "--as", name, "--durability", "fast")


def tool(*arguments):
    return subprocess.run([options.program, *arguments], check=True, capture_output=True, text=True).stdout


def measured(what, body, beside=None):
    """Calls, keeps the seconds, and says how they compare with another row's."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    result = body()
    seconds = result if isinstance(result, float) else time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    work = after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime
    row = {"what": what, "seconds": round(seconds, 3), "processorSeconds": round(work, 3)}
    if beside: row |= {"beside": beside["what"], "ratio": round(beside["seconds"] / max(seconds, 1e-9), 3)}
    rows.append(row)
    ratio = f"  {row['ratio']:.3f} of {row['beside']}" if beside else ""
    print(f"{what:44} {seconds:8.3f} s {work:8.3f} s of processor time{ratio}", flush=True)
    return row


def size(name): return sum(os.path.getsize(os.path.join(at, file)) for at, _, files in os.walk(path(name)) for file in files)


def copy(source, target): subprocess.run(["cp", "-r", path(source), path(target)], check=True)


def streams():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with open(path("nats.conf"), "w") as out:
        out.write(f'listen: "127.0.0.1:{port}"\njetstream {{ store_dir: "{path("store")}" }}\n')
    server = subprocess.Popen(["nats-server", "-c", path("nats.conf")], stderr=subprocess.DEVNULL)
    url = f"nats://127.0.0.1:{port}"
    try:
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0: break
            time.sleep(0.05)
        here = os.path.dirname(os.path.abspath(__file__))
        subprocess.run(["cc", "-O2", "-o", path("publish"), os.path.join(here, "publish.c"), "-lnats"], check=True)
        counts = {}

        def ship(): counts.update(json.loads(tool("ship", path("L"), "--to", url, "--json")))
        shipped = measured("ship to a stream", ship)
        messages, sent = counts["published"], int(counts["bytes"])

        def loop(name, count, each):
            return lambda: float(subprocess.run([path("publish"), url, name, str(count), str(each)], check=True,
                                                capture_output=True, text=True).stdout)
        bare = measured(f"libnats: {messages} messages, {sent >> 20} MiB", loop("same", messages, max(1, sent // max(messages, 1))))
        # What the events are, one message each, as a recorder without this program would publish them.
        each = os.path.getsize(path("first")) // options.events
        single = measured(f"libnats: {options.events} messages of {each} bytes", loop("single", options.events, each))
        for row in (bare, single): shipped[f"ratio: {row['what']}"] = round(row["seconds"] / shipped["seconds"], 3)
        print(f"  ship is {bare['seconds'] / shipped['seconds']:.3f} of the same bytes, {single['seconds'] / shipped['seconds']:.3f} of a message an event")
        measured("pull from a stream", lambda: tool("pull", path("S"), "--from", f"{url}/{stream()}"), single)
        frames(options.events, 1000, "third")
        measured("ship of 1,000 more to a stream", lambda: tool("ship", path("L"), "--to", url))
        measured("pull of 1,000 more from a stream", lambda: tool("pull", path("S"), "--from", f"{url}/{stream()}"))
    finally:
        server.kill()
        server.wait()


def stream():
    with open(path("T/manifest/" + str(options.events + 1000))) as file: identity = json.load(file)["identity"]
    import base64
    return "eventlog-" + base64.b64decode(identity).hex()


try:
    frames(0, options.events, "first")
    print(f"{options.events} events, {size('L') >> 20} MiB of a log")
    ship = measured("ship to a tree", lambda: tool("ship", path("L"), "--to", path("T")))
    tree = measured(f"cp -r of the tree, {size('T') >> 20} MiB", lambda: copy("T", "T2"))
    payloads = measured(f"cp of the capture, {os.path.getsize(path('first')) >> 20} MiB", lambda: copy("first", "first2"))
    for row in (tree, payloads): print(f"  ship is {row['seconds'] / ship['seconds']:.3f} of {row['what']}")
    pull = measured("pull from a tree", lambda: tool("pull", path("C"), "--from", path("T")), tree)
    log = measured(f"cp -r of the log, {size('C') >> 20} MiB", lambda: copy("C", "C2"))
    print(f"  pull is {log['seconds'] / pull['seconds']:.3f} of {log['what']}")
    frames(options.events, 1000, "second")
    measured("ship of 1,000 more to a tree", lambda: tool("ship", path("L"), "--to", path("T")))
    measured("pull of 1,000 more from a tree", lambda: tool("pull", path("C"), "--from", path("T")))
    if shutil.which("nats-server") and shutil.which("cc"): streams()
    else: print("without nats-server and cc, streams are not measured")
    if options.json:
        with open(options.json, "w") as out: json.dump({"events": options.events, "rows": rows}, out, indent=2)
finally:
    shutil.rmtree(folder)
