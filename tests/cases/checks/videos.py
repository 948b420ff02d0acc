"""What the steps of videos.case look at; see run_check.py."""

import json
from datetime import datetime, timezone


def rows_of(file):
    return [json.loads(line) for line in open(file)]


def write_pictures():
    [
        open(f"{n}/{i}.ppm", "wb").write(b"P6 %d %d 255\n" % (w, h) + bytes(3 * w * h))
        for n, w, h in (("small", 64, 48), ("large", 96, 80))
        for i in range(10)
    ]


def seconds_of_lines():
    """From the first to the last picture of the camera."""
    times = [datetime.fromisoformat(row["time_utc"]) for row in rows_of("got.jsonl")]
    assert abs((datetime.now(timezone.utc) - times[-1]).total_seconds()) < 60
    return (times[-1] - times[0]).total_seconds()


def sizes_change_with_the_camera():
    sizes = [(row["width"], row["height"]) for row in rows_of("got.jsonl")]
    print(sizes == [(64, 48)] * 10 + [(96, 80)] * 10)


def lines_last_as_long_as_the_camera():
    took, sent = seconds_of_lines(), float(open("sent_s").read())
    print("as long" if 0.8 < took / sent < 1.5 else f"{took} s, but {sent} s were sent")


def video_lasts_as_long_as_its_lines():
    lasts, took = rows_of("again.jsonl")[-1]["time_s"], seconds_of_lines()
    print("as long" if abs(lasts / took - 1) < 0.1 else f"{lasts} s, but its lines {took} s")
