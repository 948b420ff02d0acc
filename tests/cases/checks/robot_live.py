"""Three networks of a robot with cameras as videos that are played live: each picture's result comes out, with its bound.

The long form is not in the suite: after the first lines of the case `check robot_at_load 0.8`, then `check robot_runs 60` and
`check robot_calls_back 60 BUILD/python`.
"""
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

GROUPS = {"front": "front.onnx", "side": "side.onnx", "rear": "rear.onnx"}
GREY = "preprocess: {colours: grey}\n"


def application(name, rate):
    """Its file, played live; and the same read as fast as it goes."""
    weights = "" if name == "front" else ", weights: random"
    head = f"format: 1\nnetwork: {{model: {GROUPS[name]}{weights}}}\n"
    tail = (GREY if name == "front" else "") + "postprocess: {kind: top_k, top: 3}\n"
    Path(f"{name}.yaml").write_text(f"{head}input: {{video: film.avi, rate_fps: {rate}}}\n{tail}")
    Path(f"{name}_alone.yaml").write_text(f"{head}input: {{video: film.avi}}\n{tail}")


def make_robot(*rates, periods=0):
    """robot.yaml, for rates of the three groups; front.onnx, side.onnx, rear.onnx and film.avi are there. Deadlines of so many periods."""
    groups = ""
    for name, rate in zip(GROUPS, rates):
        application(name, rate)
        deadline = f", deadline_ms: {1000 * periods / float(rate):.3f}" if periods else ""
        groups += f"  - {{name: {name}, application: {name}.yaml, rate_fps: {rate}{deadline}}}\n"
    Path("robot.yaml").write_text(f"format: 1\nname: robot\ngroups:\n{groups}"
                                  "scenarios:\n  - {name: patrol, groups: [front, side, rear]}\n  - {name: idle, groups: [front]}\n")


def millrace(*words):
    done = subprocess.run(["millrace", *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def load_of(factor):
    """What the busiest processor has to do at worst, at so many times the usual rates; nothing: there is no deployment."""
    rates = [round(rate * factor, 2) for rate in (40, 30, 20)]
    make_robot(*rates, periods=2)
    code, _, said = millrace("deploy", "robot.yaml", "--samples", "50", "-o", "tried.json")
    if code != 0:
        print(f"rates {rates}: {said.splitlines()[-1]}", file=sys.stderr)
        return None
    patrol = json.loads(millrace("analyze", "tried.json", "--json")[1])["operations"][0]
    load = max(each["utilisation"] for each in patrol["processors"])
    print(f"rates {rates}: {load}", file=sys.stderr)
    return load


def robot_at_load(share="0.8", tries="12"):
    """robot.json, with rates at which the busiest processor has about so much to do at worst; times are measured anew for each."""
    wanted, best, low, high = float(share), 0.0, 1.0, 4.0
    for _ in range(int(tries)):
        factor = (low * high) ** 0.5
        load = load_of(factor)
        if load and best < load < wanted + 0.04:
            best = load
            Path("tried.json").replace("robot.json")
            for name in GROUPS:
                Path(f"{name}.yaml").replace(f"{name}.kept")
        low, high = (factor, high) if load and load < wanted else (low, factor)
        if abs(best - wanted) < 0.04 or high < 1.02 * low:
            break
    if not best:
        raise SystemExit("no deployment holds its deadlines here")
    for name in GROUPS:
        Path(f"{name}.kept").replace(f"{name}.yaml")
    print(f"load: {best:.2f}")


def robot_calls_back(seconds="5", module=""):
    """Each line of a file was given to a function before, with the same times and bound."""
    sys.path.insert(0, module)
    import millrace as library
    heard = {name: [] for name in GROUPS}
    with library.Deployment("robot.json").run(own_inputs=list(GROUPS), output="out3") as run:
        for name in GROUPS:
            run.on_result(name, heard[name].append)
        time.sleep(float(seconds))
    same = []
    for name in GROUPS:
        lines = lines_of(f"out3/{name}.jsonl")
        new = [result for result in heard[name] if not result.repeated]
        early = len(lines) - len(new)  # came out before the function was there
        same.append(0 <= early < 5 < len(new) and all(
            abs(line["bound_ms"] / 1e3 - result.bound) < 1e-6 and abs(line["end_s"] - result.end) < 1e-5 for line, result in zip(lines[early:], new)))
        beyond = sum(result.end - result.due > result.bound for result in new)
        print(f"{name}: {len(lines)} lines, {len(heard[name])} calls, early {early}, beyond their bounds {beyond}", file=sys.stderr)
    print(f"called for every line: {same}")


def lines_of(file):
    return [json.loads(line) for line in open(file)]


def is_whole(lines, delivery, name):
    """Every picture has a line, once and in order, with its times and its bound."""
    inputs = delivery["inputs"][0]
    numbered = [line["frame"] for line in lines] == list(range(len(lines)))
    timed = all(line["arrived_s"] <= line["end_s"] and line["due_s"] <= line["released_s"] <= line["end_s"]
                and line["bound_ms"] > 0 and line["group"] == name
                and abs(line["response_ms"] / 1e3 - (line["end_s"] - line["due_s"])) < 1e-5 for line in lines)
    accounted = (inputs["used"] == len(lines) and inputs["dropped"] == 0 and delivery["undelivered"] == 0
                 and inputs["pictures"] == inputs["used"] + inputs["waiting"])
    return len(lines) > 0 and numbered and timed and accounted


def robot_runs(seconds="5"):
    """And the results are those of each application alone."""
    code, out, said = millrace("run", "robot.json", "--scenario", "patrol", "--duration", f"{seconds}s", "--output", "out", "--json")
    if code not in (0, 1):
        raise SystemExit(said)
    run = json.loads(out)
    whole, equal, paced, counts = [], [], [], []
    for group in run["groups"]:
        name = group["group"]
        lines = lines_of(f"out/{name}.jsonl")
        whole.append(is_whole(lines, group["delivery"], name))
        millrace("run", f"{name}_alone.yaml", "--processors", "core0", "-o", f"{name}_alone.jsonl")
        alone = {line["source"]: line["classes"] for line in lines_of(f"{name}_alone.jsonl")}
        equal.append(len(alone) > 1 and all(alone[line["source"]] == line["classes"] for line in lines))
        paced.append(group["delivery"]["inputs"][0]["pictures"] >= group["frames"]["due"] - 1)  # though the film is over again and again
        beyond = sum(line["response_ms"] > line["bound_ms"] for line in lines)
        counts.append(f"{name}: {len(lines)} lines, {group['frames']}, beyond their bounds {beyond}, inputs {group['delivery']['inputs']}")
    print(f"every picture: {whole}, as alone: {equal}, paced: {paced}")
    print("\n".join(counts), {each["processor"]: each["utilisation"] for each in run["processors"]}, said, file=sys.stderr)


def scenarios_of(run):
    return [part["scenario"] for part in next(g for g in run["groups"] if g["group"] == "side")["parts"]], run["transitions"]["done"]


def scenario_changes():
    """By a file, then by a signal; a wrong word in the file is said, and changes nothing."""
    state = Path("state")
    with open("said", "w") as said, subprocess.Popen(
            ["millrace", "run", "robot.json", "--set", "drive.scenario-file=state", "--duration", "60s", "--output", "out2", "--json"],
            stdout=subprocess.PIPE, stderr=said, text=True) as run:
        texts = []
        reading = threading.Thread(target=lambda: texts.append(run.stdout.read()))
        reading.start()

        def wait_for_lines(name, more):
            """Results are in a file of another name until the end."""
            before, end = lines_so_far(name), time.monotonic() + 30
            while lines_so_far(name) < before + more and time.monotonic() < end:
                time.sleep(0.05)
            return lines_so_far(name) >= before + more

        begun = wait_for_lines("side", 3)
        state.write_text("idle\n")
        idle = is_still("side")
        state.write_text("nowhere\n")
        time.sleep(0.5)
        run.send_signal(signal.SIGUSR1)  # the first one comes after the last one
        again = wait_for_lines("side", 3)
        run.send_signal(signal.SIGINT)
        run.wait(30)
        reading.join(5)
    said = Path("said").read_text()
    print(f"begun: {begun}, idle by the file: {idle}, again by the signal: {again}, "
          f"transitions: {json.loads(texts[0])['transitions']['done']}, said: {said.count('nowhere')}")
    print(said, file=sys.stderr)


def lines_so_far(name):
    files = [file for file in os.listdir("out2") if name in file] if os.path.isdir("out2") else []
    return sum(Path("out2", file).read_bytes().count(b"\n") for file in files)


def is_still(name):
    """A change takes a moment."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        before = lines_so_far(name)
        time.sleep(1)
        if lines_so_far(name) == before:
            return True
    return False
