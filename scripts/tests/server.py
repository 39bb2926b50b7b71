# SPDX-License-Identifier: GPL-2.0-only
"""Loopback server of the unit tests: server.py DIR LOG

Serves DIR, knows ranges, writes its port to LOG.port and a line per request to
LOG. A file NAME.cut beside NAME makes one transfer of NAME end after half of it
(and goes); NAME.slow makes a whole transfer take seconds.
"""
import http.server
import os
import sys
import time

ROOT, LOG = sys.argv[1:3]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = os.path.join(ROOT, os.path.basename(self.path))
        wanted = self.headers.get("Range")
        with open(LOG, "a") as log:
            print(os.path.basename(self.path), wanted or "whole", file=log)
        if not os.path.isfile(path):
            self.send_error(404)
            return
        with open(path, "rb") as f:
            data = f.read()
        first = int(wanted[6:].split("-")[0]) if wanted else 0
        if first >= len(data) > 0:
            self.send_error(416)
            return
        self.send_response(206 if wanted else 200)
        if wanted:
            self.send_header("Content-Range",
                             f"bytes {first}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - first))
        self.end_headers()
        self.send_body(path, data[first:])

    def send_body(self, path, data):
        if os.path.exists(path + ".cut"):
            os.remove(path + ".cut")
            data = data[:len(data) // 2]
        slow = os.path.exists(path + ".slow")
        step = max(1, len(data) // 50) if slow else len(data) or 1
        for i in range(0, len(data), step):
            self.wfile.write(data[i:i + step])
            self.wfile.flush()
            if slow:
                time.sleep(0.2)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(LOG + ".port.new", "w") as out:
    out.write(str(server.server_port))
os.rename(LOG + ".port.new", LOG + ".port")
server.serve_forever()
