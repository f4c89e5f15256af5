"""A real browser without a screen: Debian's chromium."""

import http.server
import shutil
import subprocess
import tempfile
import threading
import unittest

CHROMIUM = shutil.which("chromium")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars"]
PATIENCE = 60

needs_chromium = unittest.skipUnless(CHROMIUM, "chromium is not installed")


def browse(page, *words):
    """What chromium prints when it opens the file."""
    with tempfile.TemporaryDirectory(prefix="starling-browser-") as profile:
        done = subprocess.run([CHROMIUM, *FLAGS, f"--user-data-dir={profile}", *words, page.resolve().as_uri()], cwd=profile,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=PATIENCE, check=True)
        return done.stdout.decode()


def dom_of(page):
    """The page as the browser understands it."""
    return browse(page, "--dump-dom")


class Listener:
    """A server on the loopback that notes what is asked of it."""

    def __enter__(self):
        asked = self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
