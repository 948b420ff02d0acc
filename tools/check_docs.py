#!/usr/bin/env python3
"""Checks what people read: README.md, CONTRIBUTING.md, CHANGELOG.md and docs/.

  tools/check_docs.py                                       every document
  tools/check_docs.py docs/concepts.md                      these only
  tools/check_docs.py --command build/release/bin/millrace  also the options in examples
  tools/check_docs.py --report                              findings by document

Sentences have at most 25 words and do not begin with "Of". Links lead to files and headings that
exist, and so do the documents and decisions that sources name. Decisions have at most 25 lines.
README.md has at most 700 words, the first command within 150. The manual is docs/*.md: at most 14
pages beside docs/README.md, each of at most 2,000 words. docs/README.md leads four readers to three
pages each, and names every manual page. docs/methods/operators.md names the operators that the
reader of ONNX files knows. docs/images/speed.svg has the figures of docs/evidence/comparison.md.
With --command, each option and key in an example is one that `millrace VERB --help-all` names.
Prints one line per finding, "file:line: what", and ends with 1 if there is any.
"""
import argparse
import re
import shlex
import subprocess
import sys
from collections import Counter
from functools import lru_cache
from pathlib import Path

sys.dont_write_bytecode = True
import speed_picture  # noqa: E402

MOST_WORDS = 25
MOST_LINES_OF_A_DECISION = 25
MOST_PAGES, MOST_WORDS_OF_A_PAGE = 14, 2000
MOST_WORDS_OF_README, WORDS_BEFORE_THE_FIRST_COMMAND = 700, 150
FOLDERS = {"decisions", "evidence", "images", "methods"}
READERS, PAGES_OF_A_READER = 4, 3
ROOT = Path(__file__).resolve().parent.parent
# A sentence may begin with the name of a network, such as resnet18.
ENDS = re.compile(r"(?<=[.!?])[)\"*_]*\s+(?=[\"(*_`A-Z0-9\[]|[a-z]+[0-9_])")
LINK = re.compile(r"!?\[([^\]]*)\]\(([^)\s]+)\)")


def documents(names):
    if names:
        return [Path(name).resolve() for name in names]
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md",
                                    "examples/README.md")]
    return top + sorted((ROOT / "docs").rglob("*.md"))


def lines_outside_code(text):
    """(number, line) of all lines that are not in a fenced block."""
    fence = None
    for number, line in enumerate(text.split("\n"), 1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and fence is None:
            fence = mark[1]
        elif fence is not None:
            if mark and mark[1].startswith(fence):
                fence = None
        else:
            yield number, line


def code_blocks(text, language):
    """(number of the first line, lines) of the fenced blocks in a language."""
    for match in re.finditer(rf"^```{language}\n(.*?)^```", text, re.S | re.M):
        yield text.count("\n", 0, match.start()) + 2, match[1].split("\n")


def paragraphs(text):
    """(number, text) of paragraphs, list items and cells of tables."""
    start, parts = 0, []

    def take():
        nonlocal parts
        whole, parts = " ".join(parts), []
        return [(start, whole)] if whole else []

    for number, line in lines_outside_code(text):
        line = line.strip()
        is_item = re.match(r"([-*+]|\d+\.)\s", line)
        if not line or line.startswith(("|", "#", "<", ">")) or is_item:
            yield from take()
        if line.startswith("|"):
            yield from ((number, cell.strip()) for cell in re.split(r"(?<!\\)\|", line))
        elif line and not line.startswith(("#", "<")):
            start = start if parts else number
            parts.append(re.sub(r"^([-*+>]|\d+\.)\s+", "", line))
    yield from take()


def plain(text):
    text = re.sub(r"`[^`]*`", "Code", text)
    text = LINK.sub(r"\1", text)
    return text.replace("**", "").replace("*", "")


def sentences(text):
    joined = []
    for part in ENDS.split(plain(text)):
        if joined and re.search(r"(^|\s)(e\.g|i\.e|et al|vs|etc)\.$", joined[-1]):
            joined[-1] += " " + part
        else:
            joined.append(part)
    return [part for part in joined if part.strip()]


def count_words(sentence):
    return sum(1 for word in sentence.split() if re.search(r"[A-Za-z0-9]", word))


def check_sentences(text):
    for number, paragraph in paragraphs(text):
        for sentence in sentences(paragraph):
            words = count_words(sentence)
            begin = " ".join(sentence.split()[:6])
            if words > MOST_WORDS:
                yield number, f"a sentence of {words} words, at most {MOST_WORDS}: {begin} ..."
            if re.match(r"Of\b", sentence):
                yield number, f"a sentence begins with 'Of': {begin} ..."


def slug(heading):
    heading = re.sub(r"[`*]", "", LINK.sub(r"\1", heading)).strip().lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


@lru_cache(None)
def anchors(path):
    headings = (re.match(r"#+\s+(.*)", line)
                for _, line in lines_outside_code(path.read_text("utf-8")))
    return {slug(match[1]) for match in headings if match}


def check_links(path, text):
    for number, line in lines_outside_code(text):
        for _, target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            there = (path.parent / file).resolve() if file else path
            if not there.exists():
                yield number, f"the link leads nowhere: {target}"
            elif anchor and there.suffix == ".md" and anchor not in anchors(there):
                yield number, f"no such heading: {target}"


def check_decision(path, text):
    count = len(text.rstrip("\n").split("\n"))
    if path.parent.name == "decisions" and path.name != "README.md" and \
            count > MOST_LINES_OF_A_DECISION:
        yield 1, f"a decision of {count} lines, at most {MOST_LINES_OF_A_DECISION}"


def check_words(path, text):
    """Words between blanks, tables and code among them, as `wc -w` counts."""
    limit = MOST_WORDS_OF_README if path == ROOT / "README.md" else \
        MOST_WORDS_OF_A_PAGE if path.parent == ROOT / "docs" else None
    count = len(text.split())
    if limit and count > limit:
        yield 1, f"a page of {count} words, at most {limit}"


def check_first_command(path, text):
    if path != ROOT / "README.md":
        return
    before = text.partition("\n```sh\n")[0]
    if len(before.split()) > WORDS_BEFORE_THE_FIRST_COMMAND:
        yield before.count("\n") + 2, f"the first command stands after {len(before.split())} " \
            f"words, at most {WORDS_BEFORE_THE_FIRST_COMMAND}"


def check_readers(text):
    """docs/README.md: rows of the first table with the pages for a reader."""
    table = re.search(r"(?:^\|.*\n)+", text, re.M)
    rows = table[0].strip().split("\n")[2:] if table else []
    if len(rows) != READERS:
        yield 1, f"leads {len(rows)} readers, not {READERS}"
    for row in rows:
        if len(LINK.findall(row)) != PAGES_OF_A_READER:
            yield 1, f"leads a reader to {len(LINK.findall(row))} pages, not {PAGES_OF_A_READER}: {row}"


def check_manual(folder, text):
    """The manual as a whole, in the folder docs, whose README.md has this text."""
    pages = sorted(path.name for path in folder.glob("*.md") if path.name != "README.md")
    if len(pages) > MOST_PAGES:
        yield 1, f"{len(pages)} manual pages, at most {MOST_PAGES}"
    for name in pages:
        if f"]({name})" not in text:
            yield 1, f"does not name the manual page {name}"
    for path in folder.iterdir():
        if path.name not in FOLDERS and path.suffix != ".md":
            yield 1, f"neither a manual page nor one of the folders: {path.name}"
    yield from check_readers(text)


def check_picture(page, picture):
    if speed_picture.draw(page) != picture:
        yield 1, "has other figures than docs/evidence/comparison.md; run tools/speed_picture.py"


def check_operators(path, text):
    """The first column of the first table against the tables of the reader."""
    if path != ROOT / "docs/methods/operators.md":
        return
    sources = [path for folder in ("", "graph", "operators")
               for path in (ROOT / "src/formats/onnx" / folder).glob("*.cpp")]
    known = {name for source in sources
             for name in re.findall(r'OperatorEntry\{\s*"([\w.]+)"', source.read_text("utf-8"))}
    section = text.split("## ONNX", 1)[-1].split("\n## ", 1)[0]
    named = set(re.findall(r"^\| `([\w.]+)` \|", section, re.M))
    for name in sorted(known - named):
        yield 1, f"the operator {name} is missing"
    for name in sorted(named - known):
        yield 1, f"the reader does not know the operator {name}"


@lru_cache(None)
def help_of(command, verb):
    return subprocess.run([command, verb, "--help-all"], capture_output=True, text=True,
                          check=False).stdout


def check_examples(command, text):
    for first, lines in code_blocks(text, "(?:sh|text|)"):
        for number, line in enumerate(lines, first):
            words = re.sub(r"\s+#.*", "", line.removeprefix("$ "))
            if not re.match("millrace [a-z-]", words):
                continue
            words = shlex.split(words.rstrip("\\").split("|")[0].split("&&")[0])
            known = help_of(command, words[1]) if len(words) > 1 else ""
            if len(words) > 1 and not words[1].startswith("-") and not known:
                yield number, f"no such verb: {words[1]}"
            keys = [f"--set {key}" for before, key in zip(words, words[1:]) if before == "--set"]
            given = [word for word in words[2:] if word.startswith("--")]
            for option in (word.split("=")[0] for word in given + keys):
                word = re.escape(option).replace("\\-\\-", r"(--|\.)", 1)  # of a key, or plain
                if known and not re.search(rf"{word}\b", known):
                    yield number, f"millrace {words[1]} has no option {option}"


def check_source(text):
    """Documents and decisions that a source names."""
    decisions = {int(path.name[:4]) for path in (ROOT / "docs/decisions").glob("0*.md")}
    for number, line in enumerate(text.split("\n"), 1):
        for name in re.findall(r"\bdocs/[\w/.-]+\.md", line):
            if not (ROOT / name).exists():
                yield number, f"no such document: {name}"
        for name in re.findall(r"\bdecision (\d+)", line):
            if int(name) not in decisions:
                yield number, f"no such decision: {name}"


def sources():
    found = (path for folder in ("src", "tests", "bench", "examples", "scripts", "cmake", "schemas")
             for path in (ROOT / folder).rglob("*") if path.is_file())
    return sorted(path for path in found if path.suffix in
                  (".h", ".cpp", ".in", ".py", ".cmake", ".json", ".yaml", ".case", ".txt", ""))


def text_of(path):
    return path.read_text("utf-8", errors="replace")


def findings(path, command):
    text = path.read_text("utf-8")
    yield from check_sentences(text)
    yield from check_links(path, text)
    yield from check_decision(path, text)
    yield from check_words(path, text)
    yield from check_first_command(path, text)
    yield from check_operators(path, text)
    if path == ROOT / "docs/README.md":
        yield from check_manual(path.parent, text)
    if path == speed_picture.PAGE:
        yield from check_picture(text, text_of(speed_picture.PICTURE))
    if command:
        yield from check_examples(command, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--command", help="the millrace command, to check examples with")
    parser.add_argument("--report", action="store_true", help="count findings by document")
    options = parser.parse_args()
    found = [(path.relative_to(ROOT).as_posix(), number, what)
             for path in documents(options.files)
             for number, what in findings(path, options.command)]
    found += [(path.relative_to(ROOT).as_posix(), number, what)
              for path in ([] if options.files else sources())
              for number, what in check_source(text_of(path))]
    if options.report:
        for name, count in Counter(name for name, _, _ in found).most_common():
            print(f"{count:5d}  {name}")
    else:
        for name, number, what in sorted(found):
            print(f"{name}:{number}: {what}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
