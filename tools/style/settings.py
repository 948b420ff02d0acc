"""Below the command no text names an option: it names a setting, ⟨max_latency⟩, which the command shows
as --max-latency and a program as max_latency (src/base/text/settings.h)."""
import re

from .rooms import room_of

# These options are not of `millrace`.
_OTHERS = {
    "src/codegen/deployment_program.cpp": "CMake and ctest, in the README of a program",
    "src/codegen/plan_program.cpp": "the written program",
    "src/codegen/text.cpp": "CMake and ctest, in the README of a program",
    "src/engine/cuda/library/compiler.cpp": "NVRTC",
    "src/engine/plugin/check/main.cpp": "millrace-plugin-check",
}
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
_SCRIPT_OPTION = re.compile(r"[\"'` ](--[a-z][a-z0-9-]*)[\"'`]")
_SETTING = re.compile(r"⟨([a-z0-9_]+)⟩")


def options_below_cli(file):
    if not file.is_under("src") or room_of(file.path) == "cli" or file.path in _OTHERS:
        return
    for token in file.tokens:
        for name in _OPTION.findall(token.text) if token.kind == "text" else ():
            setting = name[2:].replace("-", "_")
            yield token.line, f"'{name}': below cli a text names the setting ⟨{setting}⟩"


def options_in_scripts(root):
    """(path, line, option) in scripts of pages, which stand below cli too."""
    for path in sorted((root / "src").rglob("*.js")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            for name in _SCRIPT_OPTION.findall(line.partition("//")[0]):
                yield path.relative_to(root).as_posix(), number, name


def unknown_settings(files, table):
    """(path, line, name) of settings that are not in the table of options."""
    known = {line.split("|")[0].strip().replace("-", "_")
             for line in table.splitlines() if "|" in line and not line.startswith("#")}
    for file in files:
        for number, line in enumerate(file.lines, 1) if file.is_under("src") else ():
            for name in _SETTING.findall(line.partition("//")[0]):
                if name not in known:
                    yield file.path, number, name
