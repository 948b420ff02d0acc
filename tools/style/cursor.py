"""Tokens with their brackets matched."""
from .tokens import Token

_PAIRS = {"(": ")", "[": "]", "{": "}"}
END = Token("end", "", 0)


class ParseError(Exception):
    def __init__(self, line):
        super().__init__(f"line {line}")
        self.line = line


class Cursor:
    """Tokens with bracket matching."""

    def __init__(self, code):
        self.code = code

    def at(self, i):
        return self.code[i] if 0 <= i < len(self.code) else END

    def text(self, i):
        return self.at(i).text

    def close(self, i):
        """The index of the bracket that closes the one at i."""
        open_brackets = []
        for j in range(i, len(self.code)):
            token = self.code[j]
            if token.kind != "punct":
                continue
            if token.text in _PAIRS:
                open_brackets.append(_PAIRS[token.text])
            elif open_brackets and token.text == open_brackets[-1]:
                open_brackets.pop()
                if not open_brackets:
                    return j
            elif token.text in ")]}":
                break
        raise ParseError(self.at(i).line)

    def angle_close(self, i, end=None):
        """The index of the ">" that closes the "<" at i, or None where it is a comparison."""
        if self.at(i - 1).kind != "word":
            return None
        depth, j = 0, i
        end = len(self.code) if end is None else end
        while j < end:
            text = self.text(j)
            if text == "<":
                depth += 1
            elif text == ">":
                depth -= 1
                if depth == 0:
                    return j
            elif text in ("(", "[", "{"):
                j = self.close(j)
            elif text in (";", ")", "]", "}", "&&", "||"):
                return None
            j += 1
        return None

    def past_brackets(self, i, end=None):
        """i, or the index of the bracket that closes the one at i."""
        if self.text(i) in _PAIRS:
            return self.close(i)
        if self.text(i) == "<":
            return self.angle_close(i, end) or i
        return i

    def count_parameters(self, i):
        """The number of parameters between the parenthesis at i and the one that closes it."""
        end = self.close(i)
        if end == i + 1 or (end == i + 2 and self.text(i + 1) == "void"):
            return 0
        count, j = 1, i + 1
        while j < end:
            if self.text(j) == ",":
                count += 1
            j = self.past_brackets(j, end) + 1
        return count
