#!/usr/bin/env python3
"""Whether the shared library shows its interface and nothing else.

  symbols.py LIBRARY N

Each symbol that others may use is in millrace::v1, and is no part of what stands behind a handle.
The library's own name, which programs are linked to, is libmillrace.so.N.
"""
import re
import subprocess
import sys

OURS = re.compile(r"(?:(?:typeinfo|typeinfo name|vtable) for )?millrace::v1::(?!Access)(?!.*::Impl\b)")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    library, number = sys.argv[1:]
    lines = output_of("nm", "-D", "-C", "--defined-only", library).splitlines()
    symbols = [line.split(" ", 2)[2] for line in lines if line.split(" ", 2)[1] != "A"]
    foreign = [symbol for symbol in symbols if not OURS.match(symbol)]
    names = re.findall(r"SONAME.*\[(.*)\]", output_of("readelf", "-d", library))
    wrong = [f"shows {symbol}" for symbol in foreign]
    wrong += [] if names == [f"libmillrace.so.{number}"] else [f"is called {names}"]
    wrong += [] if len(symbols) > 30 else [f"shows {len(symbols)} symbols only"]
    print("\n".join(wrong[:40]) or f"{len(symbols)} symbols, all in millrace::v1")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
