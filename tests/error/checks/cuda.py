"""What the steps of cuda.case look at; see run_check.py."""

import json


def kept_whole_lines(file):
    frames = [json.loads(line)["frame"] for line in open(file)]
    assert frames and frames == list(range(len(frames)))
    print("whole lines in order" + (", fewer than 50" if len(frames) < 50 else ""))
