"""An application whose file is read again while it runs (SIGUSR1). See run_check.py."""
import json
import os
import re
import signal
import struct
import time
from pathlib import Path

from services import Running, make_application


def name_classes(word, more=""):
    text = re.sub(r"^labels:.*\n|^preprocess: .*\n", "", Path("app.yaml").read_text(), flags=re.M)
    Path(f"{word}.txt").write_text("".join(f"{word}{number}\n" for number in range(10)))
    Path("app.yaml").write_text(text.replace("postprocess:", f"labels: {word}.txt\n{more}postprocess:", 1))


def words_of(lines):
    """What the classes of each frame were called, run by run."""
    words = []
    for line in lines:
        word = re.match("[a-z]+", line["classes"][0]["label"])[0]
        if not words or words[-1] != word:
            words.append(word)
    return words


def wait_for_lines(run, more=10):
    wanted = len(Path("lines").read_text().splitlines()) + more
    while len(Path("lines").read_text().splitlines()) < wanted and run.process.poll() is None:
        time.sleep(0.01)


def read_again(run):
    said = Path("said").read_text().count("read again") + Path("said").read_text().count("goes on as it was")
    run.process.send_signal(signal.SIGUSR1)
    end = time.monotonic() + 30
    while time.monotonic() < end and run.process.poll() is None:
        text = Path("said").read_text()
        if text.count("read again") + text.count("goes on as it was") > said:
            return
        time.sleep(0.01)


def no_frame_is_lost(pictures="250", rate="50"):
    """Other names, a file that is none, another input, and the first names again."""
    make_application(pictures, rate)
    name_classes("old")
    first = Path("app.yaml").read_text()
    with Running("app.yaml", "-o", "-") as run:
        wait_for_lines(run)
        name_classes("new")
        read_again(run)
        wait_for_lines(run)
        for broken in ("network: [", first.replace("pictures", "others")):
            Path("app.yaml").write_text(broken)
            read_again(run)
        wait_for_lines(run)
        Path("app.yaml").write_text(first)
        read_again(run)
        wait_for_lines(run)
        code, lines, said = run.end()
    lines = [json.loads(line) for line in lines.splitlines()]
    print(f"exit {code}, every frame once: {[line['frame'] for line in lines] == list(range(int(pictures)))}, {words_of(lines)}")
    for sentence in re.findall(r"goes on as it was: .*|read again after", said):
        print(re.sub(r"app\.yaml:\d+[^ ]*", "app.yaml", sentence))
    print("counted:", f"{pictures} frames" in said)


def of_an_array(frames="60000"):
    """Not live: it is read as fast as the network takes it."""
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({frames}, 1, 8, 8)}}".ljust(117) + "\n"
    frame = struct.pack("<64f", *(number % 17 / 16 for number in range(64)))
    Path("many.npy").write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + int(frames) * frame)
    make_application("1", "1")
    text = Path("app.yaml").read_text().replace("images: pictures\n  rate_fps: 1", "arrays: many.npy")
    Path("app.yaml").write_text(re.sub(r"preprocess:\n.*\n", "", text))
    name_classes("old")
    with Running("app.yaml", "-o", "-") as run:
        wait_for_lines(run)
        name_classes("new")
        read_again(run)
        code, lines, _ = run.end()
    lines = [json.loads(line) for line in lines.splitlines()]
    print(f"exit {code}, every frame once: {[line['frame'] for line in lines] == list(range(int(frames)))}, {words_of(lines)}")
