"""A camera on the loopback that is faster or slower than the network: how late its pictures are, by the clock of both ends.

Each picture shows its number, in eight fields that are black or white.
"""
import json
import random
import re
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

from onnx_writer import graph_of, model_of, node, tensor, value

FIELDS, FIELD, PLACE = 8, 8, 128  # the fields of a picture, their width, and the middle of a byte
CHANNELS = 24
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=frame\r\n\r\n"


def segment(marker, content=b""):
    return bytes([0xff, marker]) + (struct.pack(">H", len(content) + 2) + content if content else b"")


def picture(number):
    """A grey JPEG file of one row of blocks: the first has the highest bit. Only mean values of blocks are in it."""
    bits, before = "", 0
    for field in range(FIELDS):
        level = (127 if number >> (FIELDS - 1 - field) & 1 else -PLACE) - before
        before += level
        size = abs(level).bit_length()
        low = level if level >= 0 else level + (1 << size) - 1
        bits += f"{size:04b}" + (f"{low:0{size}b}" if size else "") + "0"  # the last: nothing but the mean
    bits += "1" * (-len(bits) % 8)
    data = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8)).replace(b"\xff", b"\xff\x00")
    codes = bytes([0, 0, 0, 12] + [0] * 12)  # twelve codes of four bits
    one = bytes([1] + [0] * 15)
    return (segment(0xd8) + segment(0xdb, bytes([0]) + bytes([8] + [1] * 63))
            + segment(0xc0, struct.pack(">BHHB", 8, FIELD, FIELDS * FIELD, 1) + bytes([1, 0x11, 0]))
            + segment(0xc4, bytes([0]) + codes + bytes(range(12))) + segment(0xc4, bytes([0x10]) + one + bytes([0]))
            + segment(0xda, bytes([1, 1, 0, 0, 63, 0])) + data + segment(0xd9))


def make_reader(path, side="8"):
    """A network that reads the fields. It takes longer the larger `side` is: convolutions of as many rows, whose result counts nothing."""
    side, width = int(side), FIELDS * FIELD
    numbers = random.Random(1)
    weights = b"".join(struct.pack("<f", numbers.uniform(-0.1, 0.1)) for _ in range(CHANNELS * CHANNELS * 9))
    constants = [tensor("first", [CHANNELS, 1, 3, 3], weights[:4 * CHANNELS * 9]), tensor("more", [CHANNELS, CHANNELS, 3, 3], weights),
                 tensor("rows", [4], struct.pack("<4f", 1, 1, side // FIELD, side // FIELD))]
    nodes = [node("AveragePool", ["picture"], ["fields"], kernel_shape=[FIELD, FIELD], strides=[FIELD, FIELD]),
             node("Resize", ["picture", "", "rows"], ["large"], mode="nearest"),
             node("Conv", ["large", "first"], ["c0"], pads=[1, 1, 1, 1])]
    for i in range(6):
        nodes += [node("Tanh", [f"c{i}"], [f"t{i}"]), node("Conv", [f"t{i}", "more"], [f"c{i + 1}"], pads=[1, 1, 1, 1])]
    nodes.append(node("ReduceMean", ["c6"], ["work"], axes=[0, 1, 2, 3], keepdims=1))
    graph = graph_of(nodes, [value("picture", [1, 1, FIELD, width])], [value("fields", [1, 1, 1, FIELDS]), value("work", [1, 1, 1, 1])], constants)
    Path(path).write_bytes(model_of(graph, 13))


class Camera:
    """Serves one reader; notes when each picture went out."""

    def __init__(self, pictures, per_second):
        self.server = socket.create_server(("127.0.0.1", 0))
        self.sent = []
        self.thread = threading.Thread(target=self.serve, args=(pictures, 1 / per_second), daemon=True)
        self.thread.start()

    def serve(self, pictures, period):
        reader, _ = self.server.accept()
        with reader:
            reader.recv(4096)
            reader.sendall(HEAD)
            begin = time.monotonic()
            for number in range(pictures):
                time.sleep(max(0, begin + number * period - time.monotonic()))
                data = picture(number)
                self.sent.append(time.monotonic())
                reader.sendall(b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(data) + data + b"\r\n")


def number_in(line):
    fields = line["result"]["fields"]["values"]
    return sum((level > 0.5) << (FIELDS - 1 - i) for i, level in enumerate(fields))


def run_live(pictures, per_second, more=""):
    """(lines with what their pictures show and how late they came out, what millrace said)."""
    camera = Camera(pictures, per_second)
    Path("live.yaml").write_text(
        "format: 1\nnetwork: {model: reader.onnx}\n"
        f'input: {{camera: "http://127.0.0.1:{camera.server.getsockname()[1]}/c.mjpg", reconnect_s: 0{more}}}\n'
        "preprocess: {colours: grey}\npostprocess: {kind: raw}\n")
    command = ["millrace", "run", "live.yaml", "--processors", "core0", "--no-cache", "--json"]
    lines = []
    with open("said", "w") as said, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True) as run:
        for text in run.stdout:
            now, line = time.monotonic(), json.loads(text)
            line["shows"] = number_in(line)
            line["late_s"] = now - camera.sent[line["shows"]]
            line["out_s"] = now
            lines.append(line)
    return lines, Path("said").read_text()


def faster_network(pictures="30", per_second="5"):
    """From the first one that comes out no picture is dropped. Those that came while the stream was looked at may be."""
    lines, said = run_live(int(pictures), float(per_second))
    shown = [line["shows"] for line in lines]
    print(f"all from the first on: {shown == list(range(shown[0], int(pictures)))}, numbered: {[line['frame'] for line in lines] == shown}, "
          f"most: {len(shown) > int(pictures) // 2}")
    print(f"{pictures} frames, {len(lines)} lines")
    print(said)


def slower_network(pictures="100", per_second="40", more=""):
    """A picture waits for the one in work, and is then in work itself; it may have come just after another one was taken."""
    lines, said = run_live(int(pictures), float(per_second), more)
    shown = [line["shows"] for line in lines]
    gaps = [later["out_s"] - line["out_s"] for line, later in zip(lines, lines[1:])]
    most = 2 * max(gaps) + 1 / float(per_second) + 0.5
    late = [line["late_s"] for line in lines]
    print(f"numbered: {[line['frame'] for line in lines] == shown}, skipped: {len(set(shown)) < int(pictures)}, "
          f"rising: {shown == sorted(set(shown))}, newest: {max(late) <= most}")
    print(f"{pictures} frames, {len(lines)} lines")
    print(f"largest lateness {max(late):.2f} s, largest gap {max(gaps):.2f} s")
    print(said)


def dropped(file):
    """Whether as many are said to be dropped as have no line."""
    text = Path(file).read_text()
    frames, lines = re.search(r"(\d+) frames, (\d+) lines", text).groups()
    arrived, gone = re.search(r"(\d+) frames arrived, (\d+) of them were dropped", text).groups()
    print("all are counted" if (int(arrived), int(arrived) - int(gone)) == (int(frames), int(lines)) else text)
