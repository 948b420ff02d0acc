#!/usr/bin/env python3
"""seeds.py READER FOLDER: small files of the kind that the reader reads, into the folder, and into
FOLDER.dict the words that the reader knows.

They come from the project's own files and tests, from what the command writes, and from ONNX's own
cases where they are installed."""

import pathlib
import re
import struct
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
MILLRACE = TOP / "build" / "release" / "bin" / "millrace"
DIGITS = TOP / "models" / "digits.onnx"
BESIDE = TOP.parent / "shared"  # files outside of the project
LARGEST = {"darknet": 4096}  # in bytes; of the others:
USUAL_LARGEST = 32 * 1024

# Readers of text, and a word by which their files are told from other texts in the tests.
WORDS = {
    "darknet": "[net]", "sdf3": "<sdf3", "jedi": "instance", "board": "processors:",
    "ground_truth": "annotation", "application": "model:", "task_file": "flows:", "system": "groups:",
}
# Sources of readers, under src/: the texts in them are words of their files.
SOURCES = {
    "onnx": "formats/onnx/**/*.cpp", "darknet": "formats/darknet/*.cpp", "plan": "plan/*.cpp",
    "profile": "profile/profile_file.cpp", "calibration": "network/calibration_file.cpp",
    "trace": "base/trace.cpp", "board": "board/*.cpp", "application": "application/read_*.cpp",
    "sdf3": "dataflow/sdf3_*.cpp",
    "task_file": "realtime/files/*.cpp", "system": "system/*.cpp",
    "ground_truth": "application/accuracy/*.cpp", "deployment": "deployment/*.cpp",
    "workload": "workload/*.cpp", "blob": "engine/plugin/blob.cpp",
}
# What is written by a command; OUT is the file, PLAN and XAVIER are plans.
WRITTEN = {
    "plan": ["plan DIGITS --search exact --measure 0 --no-cache -o OUT",
             "plan DIGITS --board jetson-agx-xavier --search genetic --epochs 5 -o OUT",
             "plan DIGITS --board jetson-agx-xavier --precision int8 --random 5 -o OUT"],
    "profile": ["profile DIGITS --no-cache --iterations 2 --duration 0 -o OUT",
                "profile DIGITS --board jetson-agx-xavier -o OUT"],
    "calibration": ["calibrate DIGITS --random 5 -o OUT"],
    "trace": ["run DIGITS --random 3 -o JSON --trace OUT",
              "simulate PLAN --frames 10 --trace OUT"],
    "sdf3": ["export PLAN --format sdf3 -o OUT"],
    "board": ["board --write OUT"],
    "workload": ["workload make DIGITS --layer conv2 --scratchpad-kib 8 --overlap -o OUT",
                 "workload make DIGITS --layer conv2 --scratchpad-kib 400 --scratchpad-kib 6 -o OUT",
                 "workload make DIGITS --board tda4vh --layer pool -o OUT",
                 "workload make DIGITS --layer pool --layer fc -o OUT"],
}
# Plans without replicas, of which deployments are made.
DEPLOYED = ["plan DIGITS --board jetson-agx-xavier --search one-processor -o OUT",
            "plan DIGITS --board jetson-agx-xavier --precision f16 --processors dla0,core1 -o OUT"]
SYSTEM = TOP / "tests" / "support" / "robot_system.json"


def unescaped(text):
    """What printf makes of it."""
    return text.replace("\\n", "\n").replace("%%", "%")


def texts_of_tests():
    for path in sorted((TOP / "tests").rglob("*.cpp")):
        yield from re.findall(r'R"\w*\((.*?)\)\w*"', path.read_text(), re.DOTALL)
        joined = re.sub(r'"\s*\n\s*"', "", path.read_text())
        for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', joined):
            yield text.replace("\\n", "\n").replace('\\"', '"')
    for path in sorted((TOP / "tests").rglob("*.case")):
        for text in re.findall(r"printf (?:'%s' )?'([^']*)'", path.read_text()):
            yield unescaped(text)


def named(pattern, *folders):
    """Files whose names match, in the folders that are there."""
    for folder in folders:
        yield from sorted(folder.rglob(pattern)) if folder.is_dir() else []


def files_for(reader):
    cases, models = BESIDE / "cases", BESIDE / "models"
    if reader == "onnx":
        yield from named("*.onnx", TOP / "models", TOP / "tests", cases)
        yield from named("*.onnx", pathlib.Path("/usr/share/libonnx-testdata"))
    if reader == "darknet":
        yield from named("*.cfg", models, cases)
    if reader == "board":
        yield from named("*.yaml", TOP / "boards", TOP / "bench", cases)
    if reader == "application":
        yield from named("*.yaml", TOP / "examples", cases)
    if reader == "sdf3":
        yield from named("*.xml", BESIDE / "oracles", cases)
    if reader in ("image", "container"):
        yield from named("*.png", TOP / "models")
        for ending in ("*.png", "*.jpg", "*.bmp", "*.ppm", "*.pgm", "*.mkv", "*.mp4", "*.avi"):
            yield from named(ending, cases)


def npy(description, shape, values, version=1):
    header = f"{{'descr': '{description}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    size = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + size + header + values


def jpeg():
    """Grey, of 8 x 16 pixels, with a restart between its two blocks."""
    def segment(marker, content):
        return b"\xff" + bytes([marker]) + struct.pack(">H", len(content) + 2) + content

    codes = bytes([1] + [0] * 15 + [0])  # one code of one bit: nothing follows
    tables = segment(0xdb, b"\0" + bytes([1] * 64)) + segment(0xc4, b"\0" + codes + b"\x10" + codes)
    frame = segment(0xc0, b"\x08\0\x10\0\x08\x01\x01\x11\0") + segment(0xdd, b"\0\x01")
    scan = segment(0xda, b"\x01\x01\0\0\x3f\0") + b"\x3f\xff\xd0\x3f"
    return b"\xff\xd8" + tables + frame + scan + b"\xff\xd9"


def made_for(reader):
    if reader == "npy":
        yield npy("<f4", (2, 3), bytes(24))
        yield npy("|u1", (1, 2, 2, 1), bytes(4), 2)
        yield npy("<i8", (), bytes(8), 3)
        yield npy("|b1", (0, 5), b"")
    if reader == "darknet":
        head = "[net]\nwidth=4\nheight=4\nchannels=1\n"
        one = "[convolutional]\nfilters=1\nsize=1\nstride=1\nactivation=linear\n"
        for version, weights in ((2, 2), (1, 3), (0, 2)):
            counters = struct.pack("<iii", 0, version, 0) + bytes(8 if version == 2 else 4)
            yield (head + one).encode() + b"\0" + counters + bytes(4 * weights)
    if reader == "store":
        yield from (b"", b"content", b"millrace" + struct.pack("<QQ", 2, 7) + bytes(40) + b"content")
    if reader == "blob":
        head = b"millrace blob 1\nexample\n1\nexample NPU\n0\n"
        yield from (head, head + b"4\n0123\ndata", head.replace(b"NPU", b"GPU") + b"9\n0\ndata")
    if reader == "image":
        yield b"P6 2 2 255\n" + bytes(12)
        yield b"P2 2 1 255\n1 2\n"
        pixels = bytes(8)
        yield b"BM" + struct.pack("<IIIIiiHHIIiiII", 62, 0, 54, 40, 2, 1, 1, 24, 0, 8, 0, 0, 0,
                                  0) + pixels
        yield jpeg()
    if reader == "container":
        yield b"RIFF\x10\0\0\0AVI LIST"
        yield b"\0\0\0\x18ftypisom\0\0\2\0mvex"
        yield b"\x1a\x45\xdf\xa3\x81\0\x18\x53\x80\x67\x01\0\0\0\0\0\0\x10" + bytes(16)


def run(command, folder, out):
    words = {"DIGITS": DIGITS, "OUT": out, "PLAN": folder / "plan.json", "JSON": folder / "out.jsonl"}
    arguments = [str(words.get(word, word)) for word in command.split()]
    done = subprocess.run([MILLRACE, *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        print(f"no seed from `millrace {command}`: {done.stderr.strip()}", file=sys.stderr)


def written_for(reader):
    """By the command of the release build, if it is there."""
    if not MILLRACE.exists():
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if any("PLAN" in command for command in WRITTEN.get(reader, [])):
            run(WRITTEN["plan"][0], folder, folder / "plan.json")
        for command in WRITTEN.get(reader, []):
            out = folder / {"board": "out.yaml", "sdf3": "out.xml"}.get(reader, "out.json")
            run(command, folder, out)
            if out.exists():
                yield out.read_bytes()


def deployments():
    """By the command and the tests' own way to make them."""
    if not MILLRACE.exists():
        return
    with tempfile.TemporaryDirectory() as name:
        plan, out = pathlib.Path(name) / "plan.json", pathlib.Path(name) / "out.json"
        for command in DEPLOYED:
            run(command, pathlib.Path(name), plan)
            subprocess.run([sys.executable, TOP / "tests/support/deployment_of_plan.py", plan, SYSTEM, out],
                           check=False)
            if out.exists():
                yield out.read_bytes()


def seeds_for(reader, most):
    for path in files_for(reader):
        if path.stat().st_size <= most:
            yield path.read_bytes()
    if word := WORDS.get(reader):
        yield from (text.encode() for text in texts_of_tests() if word in text)
    yield from made_for(reader)
    yield from written_for(reader)
    if reader == "deployment":
        yield from deployments()
    if reader == "system":
        yield SYSTEM.read_bytes()


def words_for(reader):
    for path in sorted((TOP / "src").glob(SOURCES[reader])) if reader in SOURCES else []:
        yield from re.findall(r'"([\w.:<>=/ -]{2,24})"', path.read_text())


def main():
    reader, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    most = LARGEST.get(reader, USUAL_LARGEST)
    seeds = {seed for seed in seeds_for(reader, most) if len(seed) <= most}
    for number, seed in enumerate(sorted(seeds)):
        (folder / f"seed{number}").write_bytes(seed)
    words = "# words\n" + "".join(f'"{word}"\n' for word in sorted(set(words_for(reader))))
    folder.with_suffix(".dict").write_text(words)
    print(f"{len(seeds)} seeds for {reader} in {folder}", file=sys.stderr)


if __name__ == "__main__":
    main()
