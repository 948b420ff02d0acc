"""Tries each option that names a result with each file that the command reads; see run_check.py."""

import os
import re
import subprocess
from pathlib import Path

LIBRARY = "--engine-library reference=lib.so"
MODEL = {"d.onnx": "model"}
PLAN = {"p.json": "plan", **MODEL}
OTHER_PLAN = {"q.json": "plan", "m.onnx": "model"}
ENGINE = {"lib.so": "library of an engine"}
APPLICATION = {"d.yaml": "application", "n.npy": "input", **MODEL}
MAPPED = {"mapped.yaml": "application", "b.yaml": "board file", "n.npy": "input", **MODEL}
SYSTEM = {"s.yaml": "system", "g.xml": "graph", "plug.so": "plug-in", **APPLICATION}
DEPLOYMENT = {"dp.json": "deployment", **MODEL}
TRUTH = {"labels.txt": "input"}
PLUGIN = {"plug.so": "plug-in"}

# What a command reads, the command but for the option, and the options: each would write over it.
COMMANDS = [
    ({"b.yaml": "board file", **ENGINE}, f"board b.yaml {LIBRARY}", ["--write"]),
    ({"b.yaml": "board file", "running.json": "admission", **SYSTEM},
     "admit s.yaml --board b.yaml --beside running.json", ["--gantt", "--cpp"]),
    ({"times.json": "profile", **DEPLOYMENT}, "analyze dp.json --profile times.json", ["--gantt"]),
    ({**PLAN, **OTHER_PLAN, **ENGINE}, f"bench p.json --beside q.json {LIBRARY}", ["--trace"]),
    ({"p.json": "plan", **APPLICATION, **TRUTH, **ENGINE},
     f"bench d.yaml --rounds 1 --plan p.json --labels-from labels.txt {LIBRARY}", ["--svg"]),
    ({"n.npy": "input", **MODEL, **ENGINE}, f"calibrate d.onnx --input n.npy {LIBRARY}", ["--output", "--equalise"]),
    ({**APPLICATION, **PLUGIN}, "calibrate d.yaml --plugin plug.so", ["--output", "--equalise"]),
    ({"g.xml": "graph"}, "dataflow g.xml --format dot", ["--output"]),
    ({"b.yaml": "board file", **SYSTEM, **ENGINE}, f"deploy s.yaml --board b.yaml {LIBRARY}",
     ["--output", "--pareto", "--fronts"]),
    ({"times.json": "profile", "other.so": "plug-in", **SYSTEM},
     "deploy s.yaml --profile times.json --plugin other.so", ["--output", "--pareto", "--fronts"]),
    ({"labels.txt": "file of labels", "n.npy": "input", **MODEL, **ENGINE},
     f"classify d.onnx n.npy --labels labels.txt {LIBRARY}", ["--application"]),
    (PLAN, "export p.json --format dot", ["--output"]),
    (PLAN, "export p.json --format sdf3", ["--output"]),
    (MODEL, "export d.onnx --format onnx", ["--output"]),
    ({"c.json": "calibration table", "n.npy": "input", "times.json": "profile", "b.yaml": "board file",
      "old.csv": "journal", "older.csv": "journal", **MODEL, **ENGINE},
     "plan d.onnx --calibration c.json --input n.npy --profile times.json --limits b.yaml --resume old.csv "
     f"--start older.csv {LIBRARY}", ["--output"]),
    ({"b.yaml": "board file", "older.csv": "journal", **MODEL, **ENGINE},
     f"plan d.onnx --board b.yaml --start older.csv {LIBRARY}", ["--output", "--log"]),
    ({**MAPPED, **PLUGIN, **TRUTH}, "plan mapped.yaml --plugin plug.so --labels-from labels.txt",
     ["--output", "--log", "--write-application"]),
    ({"b.yaml": "board file", "m.onnx": "model", **MODEL, **ENGINE},
     f"profile d.onnx --board b.yaml --also m.onnx --fit new.yaml {LIBRARY}", ["--output"]),
    ({"b.yaml": "board file", "m.onnx": "model", **MODEL, **ENGINE},
     f"profile d.onnx --board b.yaml --also m.onnx {LIBRARY}", ["--fit"]),
    ({"other.so": "plug-in", **SYSTEM, **ENGINE}, f"profile s.yaml --plugin other.so {LIBRARY}", ["--output"]),
    ({"flows.yaml": "task system"}, "realtime flows.yaml", ["--gantt"]),
    ({"p.json": "file to show", "q.json": "file to show", "dp.json": "file to show", **MODEL, "m.onnx": "model"},
     "report p.json q.json dp.json", ["--output"]),
    ({**PLAN, "n.npy": "input", "labels.txt": "file of labels", **ENGINE},
     f"run p.json --input n.npy --labels labels.txt {LIBRARY}", ["--output"]),
    ({**PLAN, **ENGINE}, f"run p.json --random 1 {LIBRARY}", ["--trace"]),
    ({"Y.CFG": "model", "Y.weights": "file of the weights"}, "run Y.CFG --random 1", ["--output", "--trace"]),
    ({"EXT.ONNX": "model", "ext.bin": "file of the model's external data"}, "run EXT.ONNX --random 1",
     ["--output", "--trace"]),
    ({"p.json": "plan", **APPLICATION, **ENGINE}, f"run d.yaml --plan p.json {LIBRARY}", ["--output"]),
    ({**ENGINE, **MAPPED}, f"run mapped.yaml {LIBRARY}", ["--output"]),
    ({"drive.txt": "script", "added.json": "deployment", "m.onnx": "model", **PLUGIN, **ENGINE, **DEPLOYMENT},
     f"run dp.json --scenario-script drive.txt --plugin plug.so {LIBRARY}", ["--trace"]),
    ({"trace.json": "recorded trace", "other.json": "recorded trace", **PLAN, **OTHER_PLAN},
     "simulate p.json q.json --recorded trace.json --recorded other.json", ["--gantt", "--trace"]),
    ({"drive.txt": "script", **DEPLOYMENT}, "simulate dp.json --scenario-script drive.txt", ["--gantt", "--trace"]),
    ({"b.yaml": "board file", **MODEL}, "workload make d.onnx --board b.yaml", ["--output"]),
    ({"tiles.json": "model", "b.yaml": "board file"}, "workload simulate tiles.json --board b.yaml",
     ["--gantt", "--trace"]),
]

# Results that take nobody's place, and words that only sound like them.
OTHERS = {
    ("bundle", "--output"): "a new folder",
    ("zoo", "--output"): "nothing is read",
    ("calibrate", "--correct-bias"): "a flag",
    ("dataflow", "--format"): "a name",
    ("export", "--sdf"): "a flag",
    ("run", "--log-json"): "a flag",
    ("run", "--scenario-file"): "read alone",
}


def run(command):
    return subprocess.run(["millrace", *command], capture_output=True, text=True, errors="replace", timeout=100)


def every_result():
    """Each is refused, and what is read stays whole."""
    problems = []
    for read, command, options in COMMANDS:
        for option in options:
            for file, what in read.items():
                content = Path(file).read_bytes()
                endings = {"--gantt": ".svg", "--write-application": ".yaml"}  # that some options ask for
                place = f"out{endings.get(option, '.json')}"
                Path(place).unlink(missing_ok=True)
                os.symlink(file, place)
                result = run([*command.split(), option, place])
                if result.returncode != 2 or f"{place}: is the {what} too" not in result.stderr:
                    problems.append(f"{command} {option} {file}: {result.returncode} {result.stderr}")
                if Path(file).read_bytes() != content:
                    problems.append(f"{command} {option} {file}: LOST")
                    Path(file).write_bytes(content)
    print("\n".join(problems) or "all of them are refused")


def verbs():
    return re.findall(r"^  ([a-z-]+) {2,}\S", run(["help", "--all"]).stdout.split("Options:")[1].split("\n\n", 1)[1],
                      re.MULTILINE)


def results_of(verb):
    """The options whose help says that something is written or drawn."""
    found, name = {}, None
    for line in run([verb, "--help-all"]).stdout.splitlines():
        option = re.match(r"  (?:(?:-\w,)?--set [a-z]+\.([a-z-]+)|(?:-\w,)?--([a-z-]+)[ ,])", line)
        if option:  # rarer ones work by their plain names, too
            name = f"--{option[1] or option[2]}"
        elif not line.startswith("    "):
            name = None
        if name:
            found[name] = found.get(name, "") + " " + line.strip()
    words = r"\b(write|writes|draw|file to write|timing diagram|chrome)\b"
    return [name for name, text in found.items() if re.search(words, text, re.IGNORECASE)]


def today(verb):
    """The verb that does what this one does under an older name, or likewise."""
    names = {"deploy": "plan", "admit": "plan", "dataflow": "analyze", "realtime": "analyze"}
    return names.get(verb, "classify" if verb in ("detect", "segment", "pose", "read") else verb)


def every_option_is_tried():
    """A new option that names a result belongs into the table."""
    tried = {(today(command.split()[0]), option) for _, command, options in COMMANDS for option in options}
    found = {(today(verb), option) for verb in verbs() for option in results_of(verb)}
    missing = sorted(found - tried - {(today(verb), option) for verb, option in OTHERS})
    assert len(found) > 20, found  # or the help is not understood
    print(missing or "each of them is tried")
