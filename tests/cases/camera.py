#!/usr/bin/env python3
"""A camera on this machine that gives the pictures of MJPEG videos over HTTP, ten a second.

  camera.py PORT_FILE VIDEO.avi...

Writes its port to a file, serves one reader and ends. The file sent_s then holds the seconds from the
first to the last picture.
"""
import re
import socket
import sys
import time
from pathlib import Path

PERIOD_S = 0.1
HEAD = (b"HTTP/1.1 200 OK\r\n"
        b"Content-Type: multipart/x-mixed-replace; boundary=frame\r\n\r\n")
PICTURE = re.compile(rb"\xff\xd8\xff.*?\xff\xd9", re.DOTALL)


def main():
    port_file, videos = Path(sys.argv[1]), sys.argv[2:]
    pictures = [data for video in videos for data in PICTURE.findall(Path(video).read_bytes())]
    with socket.create_server(("127.0.0.1", 0)) as server:
        beside = port_file.with_suffix(".new")
        beside.write_text(str(server.getsockname()[1]))
        beside.rename(port_file)
        reader, _ = server.accept()
    with reader:
        reader.recv(4096)
        reader.sendall(HEAD)
        start = time.monotonic()
        for number, data in enumerate(pictures):
            time.sleep(max(0, start + number * PERIOD_S - time.monotonic()))
            reader.sendall(b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n"
                           % len(data) + data + b"\r\n")
        Path("sent_s").write_text(str(time.monotonic() - start))


if __name__ == "__main__":
    main()
