"""The rules: each a function from a file to its violations."""
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from . import rooms
from .cursor import ParseError
from .found import Source
from .parser import parse
from .settings import options_below_cli
from .tokens import code_of, tokenize

CAPS = {"function": 60, "file": 400, "header": 200, "parameters": 4, "nesting": 3, "virtual": 6,
        "public": 20, "width": 100}

_SNAKE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*_?$")
_PASCAL = re.compile(r"[A-Z][A-Za-z0-9]*$")
_FILE_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*\.(h|cpp|c)$")
_LIBRARY_NAMES = {"SetUp", "TearDown", "SetUpTestSuite", "TearDownTestSuite", "PrintTo",
                  "LLVMFuzzerTestOneInput", "LLVMFuzzerCustomMutator"}
_SLEEPS = {"sleep_for", "sleep_until", "usleep", "nanosleep"}
_CODE = [re.compile(pattern) for pattern in (
    r"#\s*(include|define|if|ifdef|endif)\b",
    r"(return|break|continue|delete|throw|using|goto)\b.*;$",
    r"(if|for|while|switch)\s*\(.*[{;]$",
    r"(\}|\{|\};|\} else \{)$",
    r"(\w|::|\.|->|\[[^\]]*\])+\(.*\);$",
    r"(const\s+)?[\w:<>,&*]+(\s+[\w:<>,&*.\[\]]+)*\s*[-+*/|&]?=\s*\S.*;$",
)]


@dataclass(frozen=True)
class Violation:
    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}"


class File:
    """One source: its lines, its tokens and what the parser found."""

    def __init__(self, path, text):
        self.path = path  # from the root, with "/"
        self.lines = text.splitlines()
        self.tokens = tokenize(text)
        self.failed_at = None
        try:
            self.source = parse(code_of(self.tokens))
        except ParseError as error:
            self.source, self.failed_at = Source(), error.line

    @property
    def is_header(self):
        return self.path.endswith(".h")

    def is_under(self, folder):
        return self.path.startswith(folder + "/")

    def includes(self):
        """(line, quoted or not, what is included), in order."""
        for token in self.tokens:
            match = token.kind == "directive" and re.match(r'\s*#\s*include\s*(["<])([^">]*)',
                                                           token.text)
            if match:
                yield token.line, match[1] == '"', match[2]


def readable(file):
    if file.failed_at is not None:
        yield file.failed_at, "the brackets cannot be matched from here"


def file_length(file):
    kind = "header" if file.is_header else "file"
    if len(file.lines) > CAPS[kind]:
        yield 1, f"{kind} is long (found {len(file.lines)} lines, cap {CAPS[kind]})"


def line_width(file):
    for number, line in enumerate(file.lines, 1):
        if len(line) > CAPS["width"]:
            yield number, f"line is wide (found {len(line)} columns, cap {CAPS['width']})"


def function_length(file):
    for function in file.source.functions:
        lines = function.last - function.first + 1
        if lines > CAPS["function"]:
            what = "table" if function.kind == "table" else "function"
            yield function.first, (f"{what} '{function.name}' is long (found {lines} lines, "
                                   f"cap {CAPS['function']})")


def parameters(file):
    found = [(f.first, f"'{f.name}'", f.parameters) for f in file.source.functions]
    found += [(line, "lambda", count) for line, count in file.source.lambdas]
    for line, name, count in found:
        if count > CAPS["parameters"]:
            yield line, f"{name} has many parameters (found {count}, cap {CAPS['parameters']})"


def nesting(file):
    for function in file.source.functions:
        if function.nesting > CAPS["nesting"]:
            yield function.nesting_line, (f"'{function.name}' nests deeply (found "
                                          f"{function.nesting}, cap {CAPS['nesting']})")


def interface_size(file):
    for made in file.source.types:
        if made.virtuals > CAPS["virtual"]:
            yield made.line, (f"'{made.name}' has many virtual functions (found {made.virtuals}, "
                              f"cap {CAPS['virtual']})")


def public_functions(file):
    for made in file.source.types:
        found = len(made.public_functions)
        if found > CAPS["public"]:
            yield made.line, (f"'{made.name}' has many public functions (found {found}, "
                              f"cap {CAPS['public']})")


def pragma_once(file):
    first = next((t for t in file.tokens if t.kind != "comment"), None)
    if file.is_header and (first is None or not re.match(r"\s*#\s*pragma\s+once\b", first.text)):
        yield 1, "header does not begin with #pragma once"


def own_header_first(file):
    own = PurePosixPath(file.path).with_suffix(".h")
    if file.is_header or not file.is_under("src"):
        return
    name = str(own.relative_to("src"))
    found = list(file.includes())
    position = next((i for i, (_, quoted, what) in enumerate(found) if quoted and what == name), 0)
    if position:
        yield found[position][0], f"own header is not the first include (found place {position + 1})"


def room_borders(file):
    for line, quoted, what in file.includes():
        text = rooms.complaint(file.path, what) if quoted else None
        if text:
            yield line, text


def using_namespaces(file):
    code = code_of(file.tokens)
    for i, token in enumerate(code[:-2]):
        if token.text == "using" and code[i + 1].text == "namespace":
            if file.is_header:
                yield token.line, "'using namespace' in a header"
            elif code[i + 2].text == "std" and i + 3 < len(code) and code[i + 3].text == ";":
                yield token.line, "'using namespace std'"


def macros(file):
    for token in file.tokens:
        if token.kind == "directive" and file.is_under("src") and re.match(r"\s*#\s*define\b", token.text):
            yield token.line, "a macro; write a function or a constant"


def sleeps(file):
    for token in code_of(file.tokens):
        if token.kind == "word" and token.text in _SLEEPS:
            yield token.line, f"'{token.text}': wait for the event itself"


def threads(file):
    """Only the runtime and engines make threads, and who serves requests that come at any time."""
    if not file.is_under("src") or rooms.room_of(file.path) in ("runtime", "engine", "serve"):
        return
    code = code_of(file.tokens)
    for i, token in enumerate(code[2:-1], 2):
        if token.text in ("thread", "jthread", "async") and (
                code[i - 2].text == "std" and code[i + 1].text != "::"):
            yield token.line, f"'std::{token.text}': only runtime and engines make threads"


def commented_out_code(file):
    for token in file.tokens:
        if token.kind != "comment":
            continue
        for offset, line in enumerate(token.text.splitlines()):
            text = re.sub(r"^\s*(//+!?|/\*+|\*+/?)?\s*|\s*\*/$", "", line)
            if any(pattern.match(text) for pattern in _CODE):
                yield token.line + offset, f"commented-out code: {text[:40]}"


def names(file):
    if not _FILE_NAME.match(PurePosixPath(file.path).name):
        yield 1, "file name is not snake_case with .h, .cpp or .c"
    for made in file.source.types:
        if made.name and not made.specialised and not _PASCAL.match(made.name):
            yield made.line, f"type '{made.name}' is not PascalCase"
    for member in file.source.private_members:
        if not member.name.endswith("_"):
            yield member.line, f"private member '{member.owner}::{member.name}' does not end in _"
    for function in file.source.functions:
        if not _is_function_name(function, file):
            yield function.first, f"function '{function.name}' is not snake_case"


def _is_function_name(function, file):
    name = function.name
    if function.kind in ("test", "table", "macro") or name.startswith(("~", "operator")):
        return True
    if name == function.owner or function.overrides:  # a library chose the name
        return True
    return bool(_SNAKE.match(name)) or (file.is_under("tests") and name in _LIBRARY_NAMES)


RULES = (readable, file_length, line_width, function_length, parameters, nesting, interface_size,
         public_functions, pragma_once, own_header_first, room_borders, using_namespaces, macros,
         sleeps, threads, commented_out_code, names, options_below_cli)


def check(path, text):
    """The violations of one file, in the order of lines, and the file."""
    file = File(path, text)
    found = [Violation(path, line, complaint) for rule in RULES for line, complaint in rule(file)]
    return sorted(found, key=lambda violation: violation.line), file
