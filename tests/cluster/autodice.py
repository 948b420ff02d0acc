#!/usr/bin/env python3
"""AlexNet on two boards as a mapping file of AutoDiCE says gives the published output, and the bits of one board.

  autodice.py --millrace PATH --source PROJECT_FOLDER [--models FOLDER]

The published network and its output are in --models, which is shared/models beside the project. Its weights are constants, so
all classes are the same. The zoo's AlexNet has other weights; with it two boards are compared with one. Skipped (77) with fewer
than two cores, or without the published network. What the script prints and refuses is tried in any case.
"""
import argparse
import array
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
SKIPPED = 77
# The names of the layers of bvlcalexnet-9.onnx, in their order.
PUBLISHED = ("conv1_1 conv1_2 norm1_1 pool1_1 conv2_1 conv2_2 norm2_1 pool2_1 conv3_1 conv3_2 conv4_1 conv4_2 conv5_1 conv5_2 "
             "pool5_1 OC2_DUMMY_0 fc6_1 fc6_2 fc6_3 fc7_1 fc7_2 fc7_3 fc8_1 prob_1").split()
DIGITS = ("conv1 relu1 conv2 relu2 pool conv3 relu3 conv4 add relu4").split()


def check(words, holds):
    print("ok  " if holds else "FAIL", words, flush=True)
    return holds


class Trial:
    def __init__(self, options, folder):
        self.millrace = str(Path(options.millrace).resolve())
        self.script = str(options.source.resolve() / "examples" / "cluster" / "from_autodice.py")
        self.models = options.source.resolve() / "models"
        self.folder = folder
        worker = str(Path(self.millrace).with_name("millrace-worker"))
        (folder / "boards.yaml").write_text(
            f"format: 1\nname: boards\nboards:\n  - {{name: second, reach: nice -n 0, worker: {worker}}}\n")
        os.environ["MILLRACE_CLUSTER_FILE"] = str(folder / "boards.yaml")

    def run(self, *words):
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def command(self, mapping, model, *more):
        """What the script prints for a mapping, given as text or as an object."""
        text = mapping if isinstance(mapping, str) else json.dumps(mapping)
        (self.folder / "mapping.json").write_text(text)
        return self.run(sys.executable, self.script, "mapping.json", str(model), "--millrace", self.millrace, *more)

    def plan(self, mapping, model, name):
        code, command, error = self.command(mapping, model, "--boards", "boards.yaml", "--", "--measure", "0", "--no-cache",
                                            "-o", f"{name}.plan.json")
        code, said, error = self.run("sh", "-c", command) if code == 0 else (code, "", error)
        return check(f"{name}: planned by the printed command", code == 0) or print(said, error)

    def outputs(self, name, *words):
        """The values of all outputs of some frames, as bytes."""
        code, _, error = self.run(self.millrace, "run", f"{name}.plan.json", *words, "-o", f"{name}.npy")
        if code:
            print(error)
            return b""
        return b"".join(numbers_of(file) for file in sorted(self.folder.glob(f"{name}*.npy")))


def numbers_of(file):
    content = file.read_bytes()
    return content[10 + int.from_bytes(content[8:10], "little"):]


def uses_both_boards(trial, name):
    stages = json.loads((trial.folder / f"{name}.plan.json").read_text())["stages"]
    names = [each["processor"]["name"] for each in stages if "processor" in each]
    return {name.startswith("second.") for name in names} == {True, False}


def bytes_of(number):
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes(found + bytes([number]))


def with_published_names(content, fields):
    """The network whose nodes n0 to n23 have the outputs PUBLISHED, and no names; so AutoDiCE's template calls its layers."""
    def changed(message, change):
        result = b""
        for number, value in fields(message):
            value = change(number, value)
            if value is None:
                continue
            whole = isinstance(value, int)
            result += bytes_of(number << 3 | (0 if whole else 2)) + (b"" if whole else bytes_of(len(value)))
            result += bytes_of(value) if whole else bytes(value)
        return result

    graph = next(value for number, value in fields(content) if number == 7)
    new = {}
    for number, node in fields(graph):
        parts = [(key, bytes(value)) for key, value in fields(node)] if number == 1 else []
        name = next((value.decode() for key, value in parts if key == 3), "")
        if name:
            new[next(value for key, value in parts if key == 2)] = PUBLISHED[int(name[1:])].encode()

    def of_node(number, value):
        return None if number == 3 else new.get(bytes(value), value) if number in (1, 2) else value

    def of_graph(number, value):
        return changed(value, of_node) if number == 1 else value

    return changed(content, lambda number, value: changed(value, of_graph) if number == 7 else value)


def try_published(trial, shared):
    """AlexNet as published, with the names of AutoDiCE's example; its first and last layers are on the first board."""
    sys.path.insert(0, str(Path(trial.script).parent))
    from from_autodice import fields
    light = memoryview((shared / "light_bvlc_alexnet.onnx").read_bytes())
    (trial.folder / "alexnet.onnx").write_bytes(with_published_names(light, fields))
    mapping = {"first_cpu0": PUBLISHED[:4] + PUBLISHED[22:], "second_cpu1": PUBLISHED[4:22]}
    if not trial.plan(mapping, "alexnet.onnx", "published"):
        return False
    good = check("published: runs on both boards", uses_both_boards(trial, "published"))
    wanted = array.array("f", (shared / "light_bvlc_alexnet_output_0.pb").read_bytes()[-4000:])
    found = array.array("f", trial.outputs("published", "--random", "1"))
    error = max((abs(a - b) for a, b in zip(found, wanted)), default=0) / max(wanted)
    return check(f"published: {len(found)} values are off by {error:.1e} of the largest published one",
                 len(found) == len(wanted) == 1000 and error < 1e-3) and good


def try_other_weights(trial):
    """The zoo's AlexNet: its layers have Millrace's names."""
    _, said, _ = trial.run(trial.millrace, "inspect", "bvlc_alexnet", "--json")
    layers = [layer["name"] for layer in json.loads(said)["layers"]]
    if not trial.plan({"first_cpu0": layers[:15], "second_cpu1": layers[15:]}, "bvlc_alexnet", "two"):
        return False
    good = check("zoo: runs on both boards", uses_both_boards(trial, "two"))
    trial.run(trial.millrace, "plan", "bvlc_alexnet", "--processors", "core0,core1", "--devices", "core0,core1", "--cut-points",
              layers[14], "--engine", "onednn", "--measure", "0", "--no-cache", "-o", "one.plan.json")
    one = json.loads((trial.folder / "one.plan.json").read_text())
    variants = json.loads((trial.folder / "two.plan.json").read_text()).get("variants", {})
    one["variants"] = {layer: variant.replace("onednn/", "") for layer, variant in variants.items() if "cluster" not in variant}
    (trial.folder / "one.plan.json").write_text(json.dumps(one))
    frames = ("--random", "3", "--seed", "3")
    wanted, found = trial.outputs("one", *frames), trial.outputs("two", *frames)
    good &= check(f"zoo: {len(found) // 4} values of 3 frames have the bits of one board",
                  len(found) == 12000 and wanted == found)
    code, said, _ = trial.run(trial.millrace, "verify", "two.plan.json")
    return check("zoo: agrees with the reference engine", code == 0 and "agree" in said) and good


def try_commands(trial):
    """What is printed for right mappings of a small network."""
    code, layers, _ = trial.run(trial.millrace, "inspect", str(trial.models / "digits.onnx"), "--json")
    layers = [layer["name"] for layer in json.loads(layers)["layers"]]
    rest = layers[len(DIGITS):]
    good = check("the small network has the layers of this test", layers[:len(DIGITS)] == DIGITS and bool(rest))
    two = {"lenovo_cpu0": DIGITS[:4], "lenovo_cpu1": DIGITS[4:] + rest}
    inner = {"first_cpu01": DIGITS[:2] + rest, "second_cpu1": DIGITS[2:]}
    boards = ("--boards", "boards.yaml")
    for mapping, more, wanted in (
            (two, (), "--processors core0,core1 --devices core0,core1 --cut-points relu2"),
            (two, ("--device", "lenovo_cpu1=second.core0", *boards), "--devices core0,second.core0 --cut-points relu2"),
            (inner, boards, "--processors cores0-1,second.core1 --devices cores0-1,second.core1,cores0-1 "
                            "--cut-points relu1,relu4"),
            ({"nx01_arm1": layers, "nx02_gpu": []}, (), "--processors core1 --devices core1\n")):
        code, command, error = trial.command(mapping, trial.models / "digits.onnx", *more)
        good &= check(f"prints {wanted.strip()}", code == 0 and wanted in command) or bool(print(command, error))
    return good


def try_wrong_files(trial):
    layers = json.loads(trial.run(trial.millrace, "inspect", str(trial.models / "digits.onnx"), "--json")[1])["layers"]
    layers = [layer["name"] for layer in layers]
    boards = ("--boards", "boards.yaml")
    good = True
    for mapping, more, wanted in (
            ('{"a_cpu0": ["conv1",]}', (), "mapping.json: line 1, column 21: is not JSON ("),
            ('{"a_cpu0": [], "a_cpu0": []}', (), "the resource 'a_cpu0' is there twice; write one list"),
            ("[1]", (), "mapping.json: has no resources; write one object, {"),
            ({"a_cpu0": "conv1"}, (), "mapping.json: a_cpu0: is no list of names; write the layers"),
            ({"a_cpu0": layers + ["conf1"]}, (), "a_cpu0: the network has no layer 'conf1'; did you mean 'conv1'?"),
            ({"a_cpu0": layers, "a_cpu1": ["conv1"]}, (),
             "mapping.json: a_cpu1: the layer 'conv1' is there twice, first for a_cpu0; leave it out once"),
            ({"a_cpu0": layers + ["conv1"]}, (), "a_cpu0: the layer 'conv1' is there twice, first for a_cpu0"),
            ({"a_cpu0": layers[1:]}, (), "mapping.json: has no resource for conv1.out; add each layer to one resource"),
            ({"a_cpu0": layers[:-5]}, (), " and 2 others; add each layer to one resource"),
            ({"a_gpu": layers}, (), "a_gpu: names no cores, as HOST_cpu0 does; say which processor it is, as in --device a_gpu="),
            ({"a_gpu": layers}, ("--device", "b_gpu=core0"),
             "--device: b_gpu: is no resource of mapping.json with its processor; write RESOURCE=PROCESSOR, as in a_gpu=core0"),
            ({"a_cpu02": layers}, (), "a_cpu02: names cores that do not follow each other"),
            ({"second_cpu01": layers}, boards, "second_cpu01: joins 2 cores of another board, which Millrace does not do"),
            ({"a_cpu0": layers[:3], "b_cpu0": layers[3:]}, boards,
             "mapping.json: the hosts a, b are not in boards.yaml; name all of them there but the one where you run this")):
        code, _, error = trial.command(mapping, trial.models / "digits.onnx", *more)
        said = error.startswith("from_autodice.py: ") and error.count("\n") == 1 and wanted in error
        good &= check(f"refused: {error.strip()}", code == 3 and said)
    code, _, error = trial.command({"a_cpu0": ["x"]}, "absent.onnx")
    return check(f"refused: {error.strip()}", code == 3 and "absent.onnx: is neither a file" in error) and good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--millrace", required=True)
    parser.add_argument("--source", required=True, type=Path)
    parser.add_argument("--models", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        trial = Trial(options, Path(name))
        good = try_commands(trial) & try_wrong_files(trial)
        if len(os.sched_getaffinity(0)) < 2:
            print("skipped: needs two cores")
            return SKIPPED if good else 1
        good &= try_other_weights(trial)
        shared = (options.models or options.source.resolve().parent / "shared/models") / "onnx_light"
        if not (shared / "light_bvlc_alexnet.onnx").exists():
            print(f"skipped: needs light_bvlc_alexnet.onnx of onnx/onnx in {shared}; the rest is as above")
            return SKIPPED if good else 1
        good &= try_published(trial, shared)
    return 0 if good else 1


sys.exit(main())
