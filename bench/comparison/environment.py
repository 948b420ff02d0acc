"""The virtual environment that the peers live in. Millrace's own build knows nothing of it."""
import json
import subprocess
import sys
from pathlib import Path

from .failed import Failed, reason_of

REQUIREMENTS = Path(__file__).parent.parent / "compare_requirements.txt"
COMMON = ["numpy", "onnx"]
PEERS = {"millrace": [], "python": [], "onnxruntime": ["onnxruntime"], "openvino": ["openvino"],
         "ncnn": ["ncnn", "pnnx"]}
# Installed without what they ask for: of pnnx only a program is used, which needs nothing.
ALONE = {"pnnx"}


def pinned(path=REQUIREMENTS):
    """Package to requirement, such as numpy to numpy==2.4.6."""
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return {line.partition("==")[0]: line for line in lines if line}


def python_of(venv):
    return venv / "bin" / "python"


def _run(command, what):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        raise Failed(f"{what}: {reason_of(done.stderr + done.stdout)}")


def make(venv):
    """Creates the environment if there is none, with what the comparison itself needs."""
    if not python_of(venv).exists():
        print(f"creating {venv}", file=sys.stderr)
        _run([sys.executable, "-m", "venv", str(venv)],
             "python3 -m venv failed (Debian has it in python3-venv)")
    install(venv, COMMON)


def install(venv, packages):
    """The pinned versions, unless they were installed before."""
    requirements = pinned()
    record = venv / "installed.json"
    installed = json.loads(record.read_text()) if record.exists() else []
    for package in packages:
        requirement = requirements[package]
        if requirement in installed:
            continue
        print(f"installing {requirement}", file=sys.stderr)
        alone = ["--no-deps"] if package in ALONE else []
        _run([str(python_of(venv)), "-m", "pip", "install", "--quiet", "--constraint",
              str(REQUIREMENTS), *alone, requirement], f"{requirement} cannot be installed")
        installed.append(requirement)
        record.write_text(json.dumps(installed))
