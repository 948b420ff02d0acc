"""ONNX Runtime and ncnn for 64-bit ARM, in the emulator's Python. They come from PyPI; none is
needed."""
import argparse
import subprocess
import sys
from pathlib import Path

from comparison import environment
from comparison.failed import Failed, reason_of

from . import emulator

PYTHON = emulator.ROOT / "build/arm_python"
WHEELS = emulator.ROOT / "build/arm_wheels"
SCRIPT = Path(__file__).with_name("peer_in_emulator.py")
# Later versions of ONNX Runtime do not start in QEMU 7.2.
PACKAGES = {"onnxruntime": "onnxruntime==1.22.1", "ncnn": environment.pinned()["ncnn"]}
NAMES = {"onnxruntime": "onnxruntime", "ncnn f32": "ncnn", "ncnn f16": "ncnn"}


def names(text):
    chosen = list(NAMES) if text == "all" else text.split(",")
    for name in chosen:
        if name not in NAMES:
            raise argparse.ArgumentTypeError(f"found '{name}', expected some of {','.join(NAMES)}")
    return chosen


def install(package):
    target = WHEELS / package
    if target.exists():
        return
    done = subprocess.run([emulator.ROOT / "scripts/sysroot", "debian", PYTHON, "python3",
                           "libgomp1", "libstdc++6"], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"Python for the emulator cannot be installed: {reason_of(done.stderr)}")
    print(f"installing {PACKAGES[package]} for aarch64", file=sys.stderr)
    platforms = [word for tag in ("2_17", "2_27", "2_28", "2014")
                 for word in ("--platform", f"manylinux{'_' if '_' in tag else ''}{tag}_aarch64")]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--target", target, *platforms,
         "--only-binary=:all:", "--implementation", "cp", "--python-version", "3.11",
         "--no-deps", "numpy==1.26.4", PACKAGES[package]],
        capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"{PACKAGES[package]} cannot be installed: {reason_of(done.stderr)}")


class Peer:
    def __init__(self, name):
        self._name, self._package = name, NAMES[name]
        install(self._package)

    def _files(self, model):
        if self._package == "onnxruntime":
            return [model]
        venv = emulator.ROOT / "build/compare-venv"
        environment.make(venv)
        environment.install(venv, ["pnnx"])
        folder = emulator.FOLDER / "ncnn"
        folder.mkdir(exist_ok=True)
        copy = folder / model.name
        copy.write_bytes(model.read_bytes())
        program = next(venv.glob("lib/*/site-packages/pnnx/pnnx"))
        done = subprocess.run([program, copy.name, "fp16=0"], cwd=folder, capture_output=True,
                              text=True, errors="replace")
        files = [copy.with_name(f"{copy.stem}.ncnn.{end}") for end in ("param", "bin")]
        if done.returncode != 0 or not files[0].exists():
            raise Failed(f"pnnx cannot convert it: {reason_of(done.stdout + done.stderr)}")
        return files

    def count(self, cpu, name):
        """Nothing if the peer cannot run it; the reason is printed."""
        try:
            command = [PYTHON / "usr/bin/python3", SCRIPT, WHEELS / self._package, self._name,
                       emulator.file_of(name), *self._files(emulator.file_of(name))]
            return emulator.count_of_peer(cpu, command, PYTHON)
        except Failed as failure:
            print(f"  {self._name}: {failure}", file=sys.stderr)
            return None


def prepare(chosen):
    return {name: Peer(name) for name in chosen}
