"""Tables 3.10 and 3.11 of Kim's thesis: one share of the arithmetic peak for each network and device of a Jetson AGX Xavier, fitted to the printed
times in int8; and how far each network's time is off with the mean share of the two others.

The thesis put a ReLU where a DLA has no activation, and let the GPU run what is left. Here the DLA runs every layer while it is fitted, so that
both devices are asked about the same network.
"""
import json
import math
import re
import sys

from beside import Table, markdown, off_text, published, run
from xavier import BOARD

PAGE = "jedi.md"
PRECISION = "int8"
PROCESSORS = {"gpu": "gpu", "dla": "dla0"}


def without_limits(text):
    """The board file with a DLA that runs every operator, and without the shares that came of this."""
    changed, count = re.subn(r"\n +(not_)?operators: \[.*\]", "", text)
    if count != 2:
        sys.exit(f"the board file has {count} lines of operators, expected 2")
    changed, count = re.subn(r"\n    efficiency:(\n      - \{.*\})+", "", changed)
    if count > 2:
        sys.exit(f"the board file has {count} lists of shares, expected one each for gpu and dla at most")
    return changed


def with_share(text, device, share):
    """The board file with one share of the arithmetic peak for all layers on the device."""
    line = (f"\n    efficiency:\n      - {{operator: other, precision: {PRECISION}, arithmetic: {share:.6g}, memory: 1, source: estimate}}")
    before, devices = text.split("\ndevices:\n")
    changed, count = re.subn(rf"(?m)^(  - name: {device}\n)", rf"\1{line[1:]}\n", devices)
    if count != 1:
        sys.exit(f"the board file has {count} devices called {device}, expected 1")
    return before + "\ndevices:\n" + changed


def fitted_share(context, board, device, model, microseconds):
    fitted = board.with_suffix(".fitted.yaml")
    run(context, "profile", model, "--board", board, "--precision", PRECISION, "--total", f"{device}={microseconds}us", "--fit", fitted)
    block = fitted.read_text().split("\ndevices:\n")[1].split(f"- name: {device}\n")[1]
    return float(re.search(r"arithmetic: ([0-9.e-]+)", block)[1])


def modelled_us(context, board, processor, model):
    """Of a frame in one piece: its layers, and the launch of the subnet."""
    out = board.with_suffix(".profile.json")
    run(context, "profile", model, "--board", board, "--precision", PRECISION, "--processors", processor, "-o", out)
    entry = json.loads(out.read_text())["processors"][0]
    return (entry["whole"]["median_ns"] + entry["borders"]["launch_ns"]) / 1000


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def times_of(printed, device):
    return {name: us * (1 if device == "gpu" else ratio) for name, (us, ratio) in printed["jetson_xavier_int8"]["rows"].items()}


def measure(context, device):
    text, board = without_limits(BOARD.read_text()), context.folder / "xavier.yaml"
    board.write_text(text)
    times = times_of(published(), device)
    shares = {name: fitted_share(context, board, device, name, us) for name, us in times.items()}
    found = {"mean": geometric_mean(shares.values()), "networks": {}}
    for name in times:
        others = geometric_mean([share for other, share in shares.items() if other != name])
        board.write_text(with_share(text, device, others))
        found["networks"][name] = {"share": shares[name], "others": others, "us": modelled_us(context, board, PROCESSORS[device], name)}
    return found


def render(printed, rows):
    body = []
    for device, row in rows.items():
        for name, us in times_of(printed, device).items():
            one = row["networks"][name]
            body.append([device, name, f"{us / 1000:.2f} ms", f"{100 * one['share']:.1f} %", f"{100 * one['others']:.1f} %", f"{one['us'] / 1000:.2f} ms",
                         off_text(one["us"], us)])
        body.append([device, "mean", "", f"{100 * row['mean']:.1f} %", "", "", ""])
    return markdown(["device:", "network:", "printed", "share of the peak", "of the others", "modelled with that", "off"], body)


TABLES = [Table("calibration", PAGE, lambda _: list(PROCESSORS), measure, render, ("gpu",))]
