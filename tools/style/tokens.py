"""C++ text to tokens: enough of the language for well-formatted sources."""
import re
from typing import NamedTuple


class Token(NamedTuple):
    kind: str  # word, number, text, punct, comment, directive
    text: str
    line: int


_RAW_STRING = re.compile(r'(?:u8|[uUL])?R"([^()\\\s]*)\(')
# ">" always stands alone: whether ">>" closes two templates is not for the lexer to say.
_TOKEN = re.compile(r"""
      (?P<comment>//[^\n]*|/\*(?s:.*?)\*/)
    | (?P<directive>(?m:^)[ \t]*\#(?:\\\n|/\*(?s:.*?)\*/|//[^\n]*|[^\n])*)
    | (?P<text>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|(?:u8|[uUL])?'(?:\\.|[^'\\\n])*')
    | (?P<number>\.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<punct>::|->\*?|<=>|\.\.\.|<<=|<<|[-+*/%^&|=!<]=|\+\+|--|&&|\|\||[^\s\w])
    """, re.X)
_SPACE = re.compile(r"(?:[ \t\r\f\v]|\\\n)*\n?")


def _next_token(text, position):
    raw = _RAW_STRING.match(text, position) if text[position] in "uULR" else None
    if raw:
        end = text.find(f'){raw[1]}"', raw.end())
        end = len(text) if end < 0 else end + len(raw[1]) + 2
        return "text", text[position:end]
    match = _TOKEN.match(text, position)
    return (match.lastgroup, match[0]) if match else ("punct", text[position])


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
