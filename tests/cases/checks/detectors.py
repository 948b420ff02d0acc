"""What the steps of detectors.case look at; see run_check.py."""

import http.server as h
import subprocess
import threading


def run_from_a_server():
    s = h.ThreadingHTTPServer(("127.0.0.1", 0), h.SimpleHTTPRequestHandler)
    threading.Thread(target=s.serve_forever, daemon=True).start()
    text = (
        open("cut.yaml")
        .read()
        .replace("video: cut.avi", 'camera: "http://127.0.0.1:%d/cut.avi"' % s.server_port)
    )
    open("gone.yaml", "w").write(text)
    raise SystemExit(
        subprocess.run(["millrace", "run", "gone.yaml", "-o", "gone.jsonl"]).returncode
    )
