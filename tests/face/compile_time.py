#!/usr/bin/env python3
"""Whether #include <millrace/millrace.h> costs at most 1.5 times what the standard's headers cost.

  compile_time.py COMPILER INCLUDE_FOLDER

These are the headers of the standard that the interface's own headers include. Both are compiled
as C++17, interleaved; the least of several user times counts, as others use the machine too, and
one quiet series of them is enough. Also checked: at most 12 headers, no other library's header, no
macro. engine.h is apart: it is C99, for plug-ins, and includes two headers of C alone.
"""
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

MOST, ROUNDS, SERIES, MOST_HEADERS = 1.5, 25, 4, 12
FOR_PLUGINS = "engine.h"
ITS_DIRECTIVES = ["#pragma once", "#include <stddef.h>", "#include <stdint.h>", "#ifdef __cplusplus",
                  "#endif", "#ifdef __cplusplus", "#endif"]


def user_time(compiler, folder, text):
    with tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary) / "only.cpp"
        source.write_text(text)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([compiler, "-std=c++17", "-fsyntax-only", f"-I{folder}", str(source)],
                       check=True)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def directives_of(header):
    return [line.strip() for line in re.findall(r"^\s*#.*", header.read_text(), re.M)]


def faults_of_plugins_header(compiler, header):
    with tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary) / "only.c"
        source.write_text(f'#include "{header}"\n')
        is_c = subprocess.run([compiler, "-x", "c", "-std=c99", "-pedantic-errors", "-Wall", "-Werror",
                               "-fsyntax-only", str(source)]).returncode == 0
    faults = [] if is_c else [f"{header.name} is no C99"]
    if directives_of(header) != ITS_DIRECTIVES:
        faults.append(f"{header.name} has {directives_of(header)}")
    return faults


def faults_of(headers):
    faults = [] if len(headers) <= MOST_HEADERS else [f"{len(headers)} headers"]
    for header in headers:
        faults += [f"{header.name}: {line}" for line in directives_of(header)
                   if not re.fullmatch(r"#pragma once|#include (<[a-z_]+>|\"millrace/[a-z_]+\.h\")",
                                       line)]
    return faults


def main():
    compiler, folder = sys.argv[1:]
    headers = sorted((Path(folder) / "millrace").glob("*.h"))
    faults = [fault for header in headers if header.name == FOR_PLUGINS
              for fault in faults_of_plugins_header(compiler, header)]
    headers = [header for header in headers if header.name != FOR_PLUGINS]
    faults += faults_of(headers)
    standard = sorted({name for header in headers
                       for name in re.findall(r"^#include <([a-z_]+)>", header.read_text(), re.M)})
    ours = "#include <millrace/millrace.h>\n"
    theirs = "".join(f"#include <{name}>\n" for name in standard)
    for _ in range(SERIES):
        times = [(user_time(compiler, folder, ours), user_time(compiler, folder, theirs))
                 for _ in range(ROUNDS)]
        least = [min(column) for column in zip(*times)]
        ratio = least[0] / least[1]
        if ratio <= MOST:
            break
    print(f"{len(headers)} headers; {least[0]:.3f} s with them, {least[1]:.3f} s with the "
          f"{len(standard)} of the standard: {ratio:.2f} times as long")
    if ratio > MOST:
        faults.append(f"{ratio:.2f} is above {MOST}")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
