"""Statements: how deeply control structures are nested, lambdas included."""
from .cursor import END, ParseError

_CONTROL = {"if", "for", "while", "switch"}
_AFTER_CAPTURES = {"(", "{", "<", "mutable", "noexcept", "constexpr", "->"}


class Statements:
    """The half of the parser that reads bodies; `current` is the function being read."""

    def block(self, i, depth):
        """The block whose brace is at i; gives the index of its end."""
        end = self.tokens.close(i)
        i += 1
        while i < end:
            i = self.statement(i, depth)
        return end

    def deeper(self, i, depth):
        if self.current is not None and depth + 1 > self.current.nesting:
            self.current.nesting = depth + 1
            self.current.nesting_line = self.tokens.at(i).line
        return depth + 1

    def statement(self, i, depth):
        """Gives the index behind the statement."""
        t = self.tokens
        text = t.text(i)
        if text == "{":
            return self.block(i, depth) + 1
        if text in _CONTROL:
            return self.control(i, depth)
        if text == "do":
            return self.past_semicolon(self.statement(i + 1, self.deeper(i, depth)))
        if text == "try":
            return self.attempt(i, depth)
        if text in ("case", "default") and t.text(i + 1) != "=":
            while t.text(i) != ":":
                i = t.past_brackets(i) + 1
            return i + 1
        if text == "enum":
            return self.enumeration(i)
        if text in ("class", "struct", "union") or text == "template":
            after = self.type(self.past_template(i))
            if after is not None:
                return after
        return self.expression(i, depth) + 1

    def control(self, i, depth):
        t = self.tokens
        is_if = t.text(i) == "if"
        inside = self.deeper(i, depth)
        while t.text(i) != "(":
            if t.text(i) == "{":  # if consteval
                break
            i += 1
        if t.text(i) == "(":
            self.lambdas(i + 1, t.close(i), depth)
            i = t.close(i) + 1
        i = self.statement(i, inside)
        if is_if and t.text(i) == "else":
            chained = t.text(i + 1) == "if"
            i = self.statement(i + 1, depth if chained else inside)
        return i

    def attempt(self, i, depth):
        t = self.tokens
        inside = self.deeper(i, depth)
        i = self.block(i + 1, inside) + 1
        while t.text(i) == "catch":
            i = self.block(t.close(i + 1) + 1, inside) + 1
        return i

    def expression(self, i, depth):
        """Gives the index of the semicolon."""
        t = self.tokens
        start = i
        while t.text(i) != ";":
            if t.at(i) is END or t.text(i) == "}":
                raise ParseError(t.at(start).line)
            i = (t.close(i) if t.text(i) in ("(", "[", "{") else i) + 1
        self.lambdas(start, i, depth)
        return i

    def lambdas(self, i, end, depth):
        """Reads the bodies of the lambdas between two indices."""
        t = self.tokens
        while i < end:
            before = t.at(i - 1)
            subscript = before.kind in ("word", "text") and before.text not in ("return", "co_return")
            if t.text(i) == "[" and not subscript and before.text not in (")", "]", "["):
                i = self.one_lambda(i, end, depth)
            else:
                i += 1

    def one_lambda(self, i, end, depth):
        t = self.tokens
        line = t.at(i).line
        j = t.close(i) + 1
        if t.text(j) not in _AFTER_CAPTURES:  # a structured binding
            return i + 1
        if t.text(j) == "<":
            depth_of_angles = 0
            while j < end:
                depth_of_angles += {"<": 1, ">": -1}.get(t.text(j), 0)
                j += 1
                if depth_of_angles == 0:
                    break
        if t.text(j) == "(":
            self.source.lambdas.append((line, t.count_parameters(j)))
            j = t.close(j) + 1
        while j < end and t.text(j) not in ("{", ",", ";", ")"):
            j = t.past_brackets(j) + 1
        return self.block(j, depth) + 1 if t.text(j) == "{" and j < end else i + 1
