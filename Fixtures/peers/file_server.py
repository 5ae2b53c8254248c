"""Serves the files of a folder on a free port of 127.0.0.1 until its input ends: file_server.py FOLDER [TOKEN]"""
import functools, http.server, sys, threading

token = sys.argv[2] if len(sys.argv) > 2 else None


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if token and self.headers.get("Authorization") != "Bearer " + token: return self.send_error(403)
        super().do_GET()

    def log_message(self, *arguments): pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=sys.argv[1]))
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
