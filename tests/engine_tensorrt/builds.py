#!/usr/bin/env python3
"""Builds the plug-in tensorrt with the headers that are here; the command loads it. Without a driver it says so."""
import argparse
import os
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("--millrace", required=True)
parser.add_argument("--source", required=True)
given = parser.parse_args()

FOLDERS = ("TENSORRT_INCLUDE", "NVONNXPARSER_INCLUDE", "CUDA_INCLUDE")


def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


with tempfile.TemporaryDirectory() as build:
    named = [f"-D{each}={os.environ[each]}" for each in FOLDERS if os.environ.get(each)]
    configured = run("cmake", "-S", given.source, "-B", build, "-DCMAKE_CXX_FLAGS=-Werror", *named)
    if "headers were not found" in configured.stdout:
        print("skipped: TensorRT's or CUDA's headers are not here")
        sys.exit(77)
    built = run("cmake", "--build", build)
    if configured.returncode or built.returncode:
        sys.exit(configured.stdout + built.stdout)
    library = os.path.join(build, "libmillrace_engine_tensorrt.so")
    said = run(given.millrace, "board", "--engine-library", f"tensorrt={library}").stdout
    print(said)
    if "driver is not here" not in said and "gpu0" not in said:
        sys.exit(f"the command did not load it:\n{said}")
