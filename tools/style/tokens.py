"""C++ text to tokens: enough of the language for well-formatted sources."""
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Token:
    kind: str  # word, number, text, punct, comment, directive
    text: str
    line: int


_RAW_STRING = re.compile(r'(?:u8|[uUL])?R"([^()\\\s]*)\(')
_RULES = [
    ("comment", re.compile(r"//[^\n]*|/\*.*?\*/", re.S)),
    ("directive", re.compile(r"^[ \t]*#(?:\\\n|/\*.*?\*/|//[^\n]*|[^\n])*", re.S | re.M)),
    ("text", re.compile(r'(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|(?:u8|[uUL])?\'(?:\\.|[^\'\\\n])*\'')),
    ("number", re.compile(r"\.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*")),
    ("word", re.compile(r"[A-Za-z_]\w*")),
    # ">" always stands alone: whether ">>" closes two templates is not for the lexer to say.
    ("punct", re.compile(r"::|->\*?|<=>|\.\.\.|<<=|<<|[-+*/%^&|=!<]=|\+\+|--|&&|\|\||[^\s\w]")),
]
_SPACE = re.compile(r"(?:[ \t\r\f\v]|\\\n)*\n?")


def _next_token(text, position):
    raw = _RAW_STRING.match(text, position)
    if raw:
        end = text.find(f'){raw[1]}"', raw.end())
        end = len(text) if end < 0 else end + len(raw[1]) + 2
        return "text", text[position:end]
    for kind, rule in _RULES:
        match = rule.match(text, position)
        if match:
            return kind, match[0]
    return "punct", text[position]


def tokenize(text):
    """All tokens with the lines they begin on, comments and directives among them."""
    tokens = []
    position, line = 0, 1
    while position < len(text):
        space = _SPACE.match(text, position)
        if space and space.end() > position:
            line += space[0].count("\n")
            position = space.end()
            continue
        kind, piece = _next_token(text, position)
        tokens.append(Token(kind, piece, line))
        line += piece.count("\n")
        position += len(piece)
    return tokens


def code_of(tokens):
    """What a parser looks at: no comments, no directives, of each #if only the first branch."""
    code, skipping, open_branches = [], 0, []
    for token in tokens:
        if token.kind == "directive":
            word = re.match(r"\s*#\s*(\w*)", token.text)[1]
            if word.startswith("if"):
                open_branches.append(False)
            elif word.startswith("el") and open_branches and not open_branches[-1]:
                open_branches[-1] = True
                skipping += 1
            elif word == "endif" and open_branches:
                skipping -= open_branches.pop()
        elif token.kind != "comment" and not skipping:
            code.append(token)
    return code
