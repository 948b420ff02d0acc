#!/usr/bin/env python3
"""Runs the commands in the blocks of shell text of README.md and of the manual's pages.

  manual.py PAGE... --source PROJECT_FOLDER --millrace PATH [--show]
  manual.py PAGE... --source PROJECT_FOLDER        lists what is not run, and pages that are missing

The commands of a page run in one folder, in their order, with small models and pictures under the
names of the page (manual_files.py) and for a short time: SHORTER says what is replaced. Each must
end with 0, or with 1 where the answer may be no. ELSEWHERE lists, with the reason, what is not run
here; an entry that no page needs any more is a fault, too. With --show all outputs are printed.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import manual_files  # noqa: E402

LONGEST = 120  # seconds of one command
ZOO = r"\b(resnet18|resnet50|squeezenet1_1|mobilenet_v2|yolov4_tiny)\b(?![\w.]*(\.|_bundle))"
SHORTER = [  # what, by what
    (r"\s+# .*", ""),
    (r"^(millrace (?!zoo|export).*?)" + ZOO, r"\1model.onnx"),
    (r"^(millrace export )" + ZOO, r"\1model.onnx"),
    (r"--duration \d+s", "--duration 1s"),
    (r"^(millrace bench (?!street|.*--rounds).*?)(?=$| \||>)", r"\1 --duration 0.2 --rounds 2 "),
    (r"^(millrace bench street.*?)$", r"\1 --rounds 1"),
    (r"^(millrace run robot.*scenario-script=drive.txt.*)$", r"\1 --duration 4s"),
    (r" --set system.compare", ""),
    (r"core4,core5,core6,core7", "core0,core1"),
    (r"cores0-3", "cores0-1"),
    (r"--cut-points 20", "--cut-points 1"),
    (r"--shape input=1x3x224x224", "--shape image=1x1x8x8"),
    (r"cd examples/robot", "cd robot"),
]
ELSEWHERE = [  # what, and why it is not run here
    (r"^sudo |^apt-get ", "changes the machine"),
    (r"^(rsync |ssh |scp |scripts/sysroot)", "needs a board"),
    (r"^docker ", "needs a container"),
    (r"^(cat /sys/|less /etc/)", "reads settings that a virtual machine lacks"),
    (r"^(cd ~/|export )", "is for the reader's shell"),
    (r"^(cmake |g\+\+ |cp build/)", "builds: the tests of the label package"),
    (r"^scripts/(demo|deb|wheel|release|clean-root)", "installs packages and builds"),
    (r"^(tools/fetch_engines|python3 -m venv|pip install)", "fetches libraries"),
    (r"--engine onednn,", "needs engines that may be absent: tests/error/onnxruntime.case"),
    (r"silero_vad", "needs a published model: tests/formats/onnx"),
    (r"yolox_nano", "needs a published model: tests/cases/find.case"),
    (r"^tasks=|\$tasks|^millrace export inspection|profile=inspection|examples/plugin",
     "needs what the examples build: tests/cases/run_taskgraphs.case, the tests of the label package"),
]
LACKING = r"core\d+ runs no layer of \S+ in (bf16|f16) with onednn; it has"  # this processor, said well
MAY_SAY_NO = r"--deadline|--max-rate|^millrace (run|analyze|simulate) robot"


def commands_of(text):
    """(number of the line, command) of the blocks of shell text."""
    for block in re.finditer(r"^ *```sh\n(.*?)^ *```", text, re.S | re.M):
        number = text.count("\n", 0, block.start()) + 2
        joined = re.sub(r"\\\n", lambda match: "\0", block[1])
        for line in joined.split("\n"):
            if line.strip():
                yield number, line.strip().replace("\0", " ")
            number += 1 + line.count("\0")


def reason_to_leave_out(command, used):
    for what, reason in ELSEWHERE:
        if re.search(what, command):
            used.add(what)
            return reason
    return None


def shortened(command):
    for what, by in SHORTER:
        command = re.sub(what, by, command)
    return command


def run(command, folder, environment):
    try:
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                              capture_output=True, errors="replace", timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return f"takes more than {LONGEST} s", 124
    return done.stdout + done.stderr, done.returncode


def run_page(page, options):
    """The numbers of commands that ran, and of those that failed."""
    ran, failed = 0, 0
    with tempfile.TemporaryDirectory(prefix="millrace_manual_") as name:
        environment = dict(os.environ, XDG_CACHE_HOME=f"{name}/.cache",
                           PATH=f"{options.millrace.resolve().parent}:{os.environ['PATH']}")
        folder = Path(name)
        text = page.read_text("utf-8")
        manual_files.write(folder, options.source.resolve(), text, environment)
        for number, command in commands_of(text):
            if reason_to_leave_out(command, set()):
                continue
            short = shortened(command)
            if short.startswith("cd "):
                folder = folder / short[3:]
                continue
            output, code = run(short, folder, environment)
            manual_files.restore(Path(name), options.source.resolve())
            ran += 1
            wrong = code != 0 and not (code == 1 and re.search(MAY_SAY_NO, command)) and not (
                code == 2 and re.search(LACKING, output))
            failed += wrong
            if wrong or options.show:
                print(f"{page.name}:{number}: $ {short}\n{output[-3000:]}\nexit {code}")
    return ran, failed


def check_lists(pages, source):
    """Faults of the list of pages and of ELSEWHERE, without running a command."""
    used = set()
    for page in pages:
        for number, command in commands_of(page.read_text("utf-8")):
            reason = reason_to_leave_out(command, used)
            if reason:
                print(f"{page.name}:{number}: not run: {command[:70]} ({reason})")
    faults = [f"no page has what is left out here: {what}" for what, _ in ELSEWHERE if what not in used]
    given = {page.resolve() for page in pages}
    faults += [f"not among the pages: {page.name}" for page in sorted((source / "docs").glob("*.md"))
               if page.resolve() not in given and any(commands_of(page.read_text("utf-8")))]
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path, nargs="+")
    parser.add_argument("--millrace", type=Path)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    if options.millrace is None:
        faults = check_lists(options.pages, options.source)
        print("\n".join(faults))
        return 1 if faults else 0
    total = 0
    for page in options.pages:
        ran, failed = run_page(page, options)
        print(f"{page.name}: {ran} commands, {failed} that fail")
        total += failed
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
