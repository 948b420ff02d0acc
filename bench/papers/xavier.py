"""Searches on a Jetson AGX Xavier by its board file, for the tables of chapter 3 of Kim's thesis: what the plan is that millrace
wrote, at which rate it runs and what energy a frame takes."""
import csv
import json
import re

from beside import ROOT, run

BOARD = ROOT / "boards/jetson-agx-xavier.yaml"
PRECISIONS = {"f16": "f16", "int8": "int8,f16"}
OPTIONS = ["E", "A", "PND-A", "B", "C", "PND-B", "D"]
STREAMS = 8  # of a stage, at most; the search chooses
CORES = 8
PRE_US, POST_US = 6344, 2207  # Figure 3.12: yolov4's, on one of eight cores
PICTURES = 5000  # of an experiment, whose energy the thesis prints


def with_relu(context, network):
    """A copy of the network's .cfg file with a ReLU for what a DLA lacks."""
    model = context.folder / f"{network}.cfg"
    if not model.exists():
        text = (context.models / f"{network}.cfg").read_text()
        model.write_text(re.sub(r"(?m)^activation\s*=\s*(leaky|mish)\s*$", "activation=relu", text))
    return model


def at_size(size, batch=1):
    """Options for pictures of a size, several in a frame: pre- and post-processing takes as many times as long."""
    return ["--shape", f"data={batch}x3x{size}x{size}", "--pre-time", f"{batch * PRE_US}us",
            "--post-time", f"{batch * POST_US}us"]


def simulated(context, plan):
    """Frames per second of the network alone; mJ that a frame takes while it is worked on; mW that are always drawn."""
    result = json.loads(run(context, "simulate", plan, "--json")[0])
    fps = result["plans"][0]["throughput_fps"]
    energy = result["energy_per_frame"]
    return fps, sum(each["working_mj"] for each in energy), fps * sum(each["always_mj"] for each in energy)


def core_power_mw(context):
    """That a core draws more while it works, at its highest clock."""
    board = json.loads(run(context, "board", BOARD, "--json")[0])
    carmel = next(device for device in board["devices"] if device["name"] == "carmel")
    return carmel["power"][-1]["dynamic_mw"]


def energy_mj(context, working_mj, always_mw, fps):
    """Of a frame of one picture: network, two steps on a core, and what is drawn in its share of the time."""
    return working_mj + core_power_mw(context) * (PRE_US + POST_US) / 1e6 + always_mw / fps


def baseline(context, model, precision, size, batch, device="gpu"):
    """Base(G): the GPU alone, pre-processing, network and post-processing one after the other. Base(D): a DLA, and what it lacks on the GPU."""
    plan = model.with_suffix(".base.json")
    run(context, "plan", model, "--board", BOARD, "--precision", PRECISIONS[precision], "--devices", device,
        *at_size(size, batch)[:2], "-o", plan)
    fps, working, always = simulated(context, plan)
    rate = batch / (1 / fps + batch * (PRE_US + POST_US) / 1e6)
    return {"fps": rate, "energy_mj": energy_mj(context, working / batch, always, rate)}


def numbers_in(text):
    """What the fine-tuner ended with: slots, streams, threads."""
    found = re.search(r"fine-tuned: (\d+) slots(?:, streams (\d+(?:,\d+)*))?(?:, (\d+) pre-processing threads)?"
                      r"(?:, (\d+) post-processing threads)?", text)
    if not found:
        return {}
    streams = [int(each) for each in found[2].split(",")] if found[2] else []
    return {"slots": int(found[1]), "streams": streams, "pre": int(found[3] or CORES), "post": int(found[4] or CORES)}


def kind_of(row):
    """The mapping option, or what a candidate that is none of them is."""
    return row["option"] or ("pattern" if ">" in row["stages"] else "interleaved")


def is_written(plan, stages):
    """The plan file has these stages; their streams are more replicas on the same processors."""
    written = [stage.get("processors") or [stage["processor"]] for stage in plan["stages"]]
    written = [[processor["name"] for processor in stage] for stage in written]
    names = [sorted(stage.split("+")) for stage in stages.split(">")]
    return all(any(len(each) % len(stage) == 0 and sorted(stage * (len(each) // len(stage))) == sorted(each) for each in written) for stage in names)


def written_row(rows, plan):
    """The candidate that became the plan: the fine-tuner's last one, which changes numbers only, else the best with its stages."""
    if is_written(plan, rows[-1]["stages"]):
        return rows[-1]
    found = [row for row in rows if is_written(plan, row["stages"])]
    if not found:
        raise SystemExit(f"no candidate has the stages of the plan: {plan['stages']}")
    return max(found, key=lambda row: float(row["throughput_fps"]))


def searched(context, network, precision, size=416, batch=1, method="cut-points", more=()):
    """A search, and the plan that it wrote: rates are with pre- and post-processing, in pictures per second."""
    model = with_relu(context, network)
    log, path = model.with_suffix(".csv"), model.with_suffix(".plan.json")
    _, text = run(context, "plan", model, "--board", BOARD, "--processors", "gpu,dla0,dla1", "--precision",
                  PRECISIONS[precision], "--search", method, "--streams", STREAMS, "--log", log, "-o", path,
                  *at_size(size, batch), *more)
    with open(log, newline="") as file:
        next(file)  # the comment
        rows = list(csv.DictReader(file))
    plan = json.loads(path.read_text())
    numbers = numbers_in(text)
    last = written_row(rows, plan)
    if not numbers:
        numbers = {"slots": int(last["slots"]), "streams": [int(each) for each in last["streams"].split(";") if each],
                   "pre": int(last["pre_threads"]) or CORES, "post": int(last["post_threads"]) or CORES}
    fps, working, always = simulated(context, path)
    rate = batch * min(fps, numbers["pre"] * 1e6 / (batch * PRE_US), numbers["post"] * 1e6 / (batch * POST_US),
                       CORES * 1e6 / (batch * (PRE_US + POST_US)))
    best = {}
    for row in rows:
        best[kind_of(row)] = max(best.get(kind_of(row), 0), batch * float(row["throughput_fps"]))
    candidates = re.search(r"(\d+) candidates of (\d+) tuples", text)
    engines = {device: int(count) for count, device in re.findall(r"(\d+) for (dla|gpu)\b", text)}
    return {"candidates": len(rows), "tuples": int(candidates[2]), "engines_dla": engines.get("dla", 0),
            "engines_gpu": engines.get("gpu", 0), "best": best,
            "plan": {**numbers, "kind": kind_of(last), "stages": last["stages"], "cuts": [
                int(cut) for cut in last["last_layers"].split(";") if cut],
                     "layers": sum(len(phase["layers"]) for stage in plan["stages"] for phase in stage["phases"]),
                     "network_fps": batch * fps, "fps": rate,
                     "energy_mj": energy_mj(context, working / batch, always, rate)}}


def joules(energy_mj_):
    """Of an experiment, as the thesis prints it."""
    return energy_mj_ * PICTURES / 1000
