"""The program count_instructions in the emulator, with the plug-in that counts."""
import json
import re
import subprocess
from pathlib import Path

from comparison.failed import Failed, last_line

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build/aarch64"
SYSROOT = ROOT / "build/arm_sysroot"
PROGRAM = BUILD / "bench/count_instructions"
PLUGIN = BUILD / "counting.so"
FOLDER = ROOT / "build/instructions"


def output_of(command, what):
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    except FileNotFoundError as missing:
        raise Failed(f"{what}: {missing.filename} is not installed") from missing
    if done.returncode != 0:
        raise Failed(f"{what}: {last_line(done.stderr)}")
    return done.stdout


def check_version():
    text = output_of(["qemu-aarch64", "--version"], "the emulator")
    major = int(re.search(r"version (\d+)", text).group(1))
    if not 6 <= major <= 8:
        raise Failed(f"found {text.splitlines()[0]}; the plug-in needs one from 6 to 8, such as "
                     "that of Debian 12")


def prepare(build):
    FOLDER.mkdir(parents=True, exist_ok=True)
    if build:
        script = [ROOT / "scripts/arm", "--targets", "count_instructions"]
        if subprocess.run(script, check=False).returncode != 0:
            raise Failed("scripts/arm did not build the program; it says why above")
    check_version()
    source = Path(__file__).with_name("plugin.cpp")
    output_of(["c++", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", source, "-o", PLUGIN],
              "the emulator's plug-in")


def run(cpu, command, root=SYSROOT, log=None):
    plugin = ["-plugin", f"{PLUGIN},out={log}"] if log else []
    return output_of(["qemu-aarch64", "-cpu", cpu, *plugin, "-L", root, *command],
                     f"{Path(command[0]).name} {' '.join(map(str, command[1:3]))}")


def samples():
    lines = run("max", [PROGRAM, "list"]).splitlines()
    return [dict(zip(("kind", "name"), line.split("\t"))) for line in lines]


def file_of(name):
    """The sample as an ONNX file."""
    path = FOLDER / (re.sub(r"\W+", "_", name) + ".onnx")
    if not path.exists() or path.stat().st_mtime < PROGRAM.stat().st_mtime:
        run("max", [PROGRAM, "write", name, path])
    return path


def count(cpu, name):
    """macs, and the executed instructions by variant."""
    log = FOLDER / "counts.log"
    return json.loads(run(cpu, [PROGRAM, "count", name, log], log=log))


def count_kernels(cpu, name):
    """By precision: a list of kernels, each with layer, kernel, macs and count."""
    log = FOLDER / "counts.log"
    return json.loads(run(cpu, [PROGRAM, "kernels", name, log], log=log))


def count_of_peer(cpu, command, root):
    """Between the last two questions to the plug-in."""
    log = FOLDER / "peer.log"
    run(cpu, command, root=root, log=log)
    return int(re.match(r"all=(\d+)", log.read_text().splitlines()[-1]).group(1))
