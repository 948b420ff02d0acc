"""Checks of help.case: what the command says of its verbs and options."""
import re
import subprocess

LINES_OF_A_SCREEN, MOST_OPTIONS = 40, 150


def said(*words):
    return subprocess.run(["millrace", *words], capture_output=True, text=True, check=True).stdout


def verbs():
    return re.findall(r"^  ([a-z][a-z-]*) ", said("help", "--all"), re.M)


def options_are_few():
    screens = {verb: said(verb, "--help") for verb in verbs()}
    options = {verb: re.findall(r"^  (?!-h,--help)-.*", screen, re.M) for verb, screen in screens.items()}
    count = sum(map(len, options.values()))
    print("few", count <= MOST_OPTIONS, count, {verb: len(found) for verb, found in options.items()})
    lines = {verb: screen.count("\n") for verb, screen in screens.items()}
    print("screens", max(lines.values()) <= LINES_OF_A_SCREEN, lines)


def options_of(table):
    """(verb, word) of each option in the table: "--input", "search.epochs"."""
    area = None
    for line in open(table, encoding="utf-8"):
        if line.startswith("["):
            area = line[1:line.index("]")]
        elif " | " in line and not line.startswith("#") and area not in (None, "verbs"):
            name, of = line.split(" | ")[:2]
            shown, _, keys = of.partition("/")
            yield from ((verb, f"--{name}") for verb in shown.split())
            yield from ((verb, f"{area}.{name}") for verb in keys.split())


def table_is_everywhere(table):
    help_all = {verb: said(verb, "--help-all") for verb in verbs()}
    bash = dict(re.findall(r"^    ([a-z-]+)\)\n(.*?);;", said("completion", "bash"), re.M | re.S))
    man = dict(re.findall(r"^\.SH ([a-z-]+)\n(.*?)(?=^\.SH |\Z)", said("completion", "man"), re.M | re.S))
    for place, texts in (("help", help_all), ("completion", bash), ("man", man)):
        plain = {verb: text.replace("\\-", "-").replace("\\&", "").replace("\\fB", " ") for verb, text in texts.items()}
        missing = [(verb, word) for verb, word in options_of(table)
                   if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", plain.get(verb, ""))]
        print(f"missing in {place}:", missing)
