#!/usr/bin/env python3
"""Finds files that use what they do not include, although they are compiled together with others.

  tools/check_includes.py                   every source under include/ src/ bindings/ tests/ bench/ examples/
  tools/check_includes.py --root FOLDER     of another project

Unity batches and precompiled headers hide a missing #include. This check reads the text alone. It
looks at types of the project, at functions that are named with their room (`network::read_npy(`),
and at names of the standard library, fmt and JSON. Each must be declared in the file, or in a
header that it includes, directly or through headers of the project. `scripts/check-includes` asks
the compiler instead, which takes much longer.
Prints one line per finding, "file:line: what", and ends with 1 if there is any.
"""
import argparse
import re
import sys
from functools import cached_property
from pathlib import Path

FOLDERS = ("include", "src", "bindings", "tests", "bench", "examples")
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
TYPE = re.compile(r"\b(?:struct|class|union|enum(?:\s+class)?|typename)\s+"
                  r"(?:alignas\([^)]*\)\s*)?([A-Z]\w*)|\busing\s+([A-Z]\w*)\s*(?:=|\[\[)|"
                  r"\btypedef\b[^;]*?(\w+);|#define\s+(\w+)")
GIVEN = re.compile(r"\b(?:TEST\w*|INSTANTIATE\w*|BENCHMARK\w*)\(\s*(\w+)|"
                   r"\b(?:class|typename|int|size_t|bool|auto)(?:\.\.\.)?\s+([A-Z]\w*)\s*[,>=]")
USED_TYPE = re.compile(r"(?<![\w:.])((?:\w+::)*)([A-Z]\w*[a-z]\w*)\b")
QUALIFIED = re.compile(r"(?<![\w:])(?:millrace::)?(\w+)::(\w+)\s*\(")

# What a name of another library needs: any of these headers.
STANDARD = {
    header: names.split() for header, names in {
        "algorithm": "sort stable_sort max_element min_element find_if any_of all_of none_of "
                     "count_if transform replace_if lower_bound upper_bound clamp minmax_element "
                     "fill_n nth_element partial_sort",
        "array": "array",
        "atomic": "atomic memory_order_relaxed memory_order_acquire memory_order_release",
        "condition_variable": "condition_variable",
        "exception": "exception exception_ptr current_exception rethrow_exception",
        "filesystem": "filesystem",
        "fstream": "ifstream ofstream",
        "functional": "function",
        "map": "map multimap",
        "memory": "unique_ptr shared_ptr make_unique make_shared weak_ptr",
        "mutex": "mutex lock_guard unique_lock scoped_lock once_flag call_once",
        "numeric": "accumulate iota gcd lcm partial_sum inner_product",
        "optional": "optional nullopt",
        "queue": "queue priority_queue",
        "set": "set multiset",
        "span": "span as_bytes",
        "sstream": "istringstream ostringstream stringstream",
        "stdexcept": "runtime_error logic_error invalid_argument out_of_range",
        "string": "string to_string stoi stod stoll",
        "string_view": "string_view",
        "thread": "thread jthread this_thread",
        "tuple": "tuple make_tuple tie",
        "variant": "variant visit holds_alternative get_if monostate",
        "vector": "vector",
        "cmath": "sqrt log exp isnan isfinite lround llround floor ceil pow fabs",
        "limits": "numeric_limits",
        "deque": "deque",
        "list": "list",
        "unordered_map": "unordered_map",
        "unordered_set": "unordered_set",
        "chrono": "chrono",
        "random": "mt19937 mt19937_64 uniform_int_distribution",
        "bit": "bit_cast bit_width popcount countr_zero has_single_bit",
        "regex": "regex regex_match regex_search",
    }.items()
}
# Headers that bring another one by their definition.
BRINGS = {"string": {"string_view"}, "filesystem": {"string", "string_view", "chrono"},
          "thread": {"chrono"}, "mutex": {"chrono"}, "condition_variable": {"mutex", "chrono"},
          "sstream": {"string"}, "fstream": {"string"}, "stdexcept": {"string", "exception"}}
HEADERS_OF = {}
for _header, _names in STANDARD.items():
    for _name in _names:
        HEADERS_OF.setdefault(f"std::{_name}", set()).add(_header)
HEADERS_OF |= {"std::ifstream": {"fstream", "iosfwd"}, "std::ofstream": {"fstream", "iosfwd"},
               "fmt::format": {"fmt/format.h", "fmt/core.h", "fmt/ranges.h", "fmt/chrono.h"},
               "fmt::join": {"fmt/format.h", "fmt/ranges.h"},
               "nlohmann::json": {"nlohmann/json.hpp", "nlohmann/json_fwd.hpp"}}
USED_OF_OTHERS = re.compile(r"\b(?:std|fmt|nlohmann)::\w+")


class File:
    def __init__(self, path, text):
        self.path = path
        self.code = NOT_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
        found = INCLUDE.findall(text)
        self.quoted = [name for kind, name in found if kind == '"' or name.startswith("millrace/")]
        self.others = {name for kind, name in found if kind == "<"}

    @cached_property
    def declared(self):
        types = {name for match in TYPE.findall(self.code) for name in match if name}
        return types | {name for match in GIVEN.findall(self.code) for name in match if name}

    @cached_property
    def offered(self):
        """Types that stand outside of other types."""
        return {name for match in TYPE.finditer(self.code) for name in match.groups()
                if name and self.code[match.start() - 1:match.start()] in ("", "\n")}

    @cached_property
    def called_or_declared(self):
        return set(re.findall(r"\b(\w+)\s*\(", self.code))

    def uses(self, pattern, name_of):
        """The names that are used, each with its first line."""
        lines = {}
        for match in pattern.finditer(self.code):
            name = name_of(match)
            if name not in lines:
                lines[name] = self.code.count("\n", 0, match.start()) + 1
        return lines


class Project:
    def __init__(self, files):
        self.files = files  # by path from the root
        self.headers = {path: file for path, file in files.items() if path.endswith(".h")}
        self.declaring = {}
        for path, file in self.headers.items():
            for name in file.offered:
                self.declaring.setdefault(name, set()).add(path)
        self.rooms = {path.split("/")[1] for path in files if path.count("/") > 1}
        self.seen = {}

    def resolve(self, path, name):
        beside = f"{path.rpartition('/')[0]}/{name}"
        return next((place for place in (beside, f"src/{name}", f"tests/{name}", f"include/{name}")
                     if place in self.files), None)

    def reached(self, path):
        """The file and all headers of the project that it includes, through others too."""
        if path not in self.seen:
            found, waiting = {path}, [path]
            while waiting:
                at = waiting.pop()
                for name in self.files[at].quoted:
                    place = self.resolve(at, name)
                    if place and place not in found:
                        found.add(place)
                        waiting.append(place)
            self.seen[path] = found
        return self.seen[path]

    def is_ours(self, scope):
        return set(scope.split("::")) <= self.rooms | {"", "millrace", "test"}

    def missing(self, path):
        """(line, what is missing) of a file."""
        file, reached = self.files[path], self.reached(path)
        for (scope, name), line in file.uses(USED_TYPE, lambda m: (m[1], m[2])).items():
            places = self.declaring.get(name, ())
            is_here = any(name in self.files[at].declared for at in reached)
            if places and self.is_ours(scope) and not is_here:
                yield line, f"{name}: include {' or '.join(short(p) for p in sorted(places))}"
        for (room, name), line in file.uses(QUALIFIED, lambda m: (m[1], m[2])).items():
            places = [p for p, header in self.headers.items()
                      if p.startswith(f"src/{room}/") and name in header.called_or_declared]
            if room in self.rooms and places and not any(
                    name in self.files[at].called_or_declared for at in reached - {path}):
                yield line, f"{room}::{name}: include {' or '.join(short(p) for p in places)}"
        others = set().union(*(self.files[at].others for at in reached))
        others |= set().union(*(BRINGS.get(name, set()) for name in others))
        for name, line in file.uses(USED_OF_OTHERS, lambda m: m[0]).items():
            headers = HEADERS_OF.get(name)
            if headers and not headers & others:
                yield line, f"{name}: include {' or '.join(f'<{h}>' for h in sorted(headers))}"


def short(path):
    return f'"{path.partition("/")[2]}"'


def read(root):
    files = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                name = path.relative_to(root).as_posix()
                files[name] = File(name, path.read_text(encoding="utf-8", errors="replace"))
    return Project(files)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent)
    project = read(parser.parse_args().root.resolve())
    count = 0
    for path in project.files:
        for line, what in sorted(project.missing(path)):
            print(f"{path}:{line}: {what}")
            count += 1
    print(f"{len(project.files)} files, {count} missing includes", file=sys.stderr)
    return 1 if count or not project.files else 0


if __name__ == "__main__":
    sys.exit(main())
