"""Tokens to functions, types and members: a brace parser for declarations."""
import re

from .cursor import END, Cursor, ParseError
from .found import Function, Member, Source, Type
from .statements import Statements

_TYPE_WORDS = {"class", "struct", "union"}
_MACRO = re.compile(r"[A-Z][A-Z0-9_]{3,}$")  # TEST_F, BENCHMARK
_NOT_NAMES = {"alignas", "decltype", "noexcept", "requires", "explicit", "__attribute__", "throw"}


class Parser(Statements):
    def __init__(self, code):
        self.tokens = Cursor(code)
        self.source = Source()
        self.current = None  # the function whose statements are being read

    def parse(self):
        self.scope(0, None, len(self.tokens.code))
        return self.source

    # Declarations.

    def scope(self, i, owner, end):
        """The declarations of a namespace, or of the type `owner`."""
        while i < end:
            text = self.tokens.text(i)
            if text in ("public", "private", "protected") and self.tokens.text(i + 1) == ":":
                owner.access = text
                i += 2
            elif text in (";", "}"):
                i += 1
            else:
                i = self.declaration(i, owner)

    def declaration(self, i, owner):
        t = self.tokens
        first = i
        i = self.past_template(i)
        if t.text(i) == "inline" and t.text(i + 1) == "namespace":
            i += 1
        is_linkage = t.text(i) == "extern" and t.at(i + 1).kind == "text"
        if is_linkage and self.is_object(i + 2):
            i += 2
        elif is_linkage or t.text(i) == "namespace":
            return self.namespace(i, owner)
        if t.text(i) == "enum":
            return self.enumeration(i)
        if t.text(i) in _TYPE_WORDS:
            after = self.type(i)
            if after is not None:
                return after
        if t.text(i) in ("using", "typedef", "friend", "static_assert", "concept"):
            return self.past_statement(i, owner, first)
        return self.function_or_variable(first, i, owner)

    def is_object(self, i):
        """Whether the declaration is none of a function; a block begins with its bracket."""
        first = i
        while self.tokens.text(i) not in ("(", "{", ";", ""):
            i += 1
        return self.tokens.text(i) != "(" and i > first

    def past_template(self, i):
        t = self.tokens
        while t.text(i) == "template" and t.text(i + 1) == "<":
            i = t.angle_close(i + 1) + 1
            if t.text(i) == "requires":
                i = self.past_requires(i + 1)
        while t.text(i) == "[" and t.text(i + 1) == "[":
            i = t.close(i) + 1
        return i

    def past_requires(self, i):
        """Behind a constraint: names, parentheses, template arguments, joined by && and ||."""
        t = self.tokens
        while True:
            while t.at(i).kind == "word" or t.text(i) in ("::", "!"):
                if t.text(i + 1) not in ("::", "<", "("):
                    i += 1
                    break
                i += 1
            if t.text(i) in ("<", "("):
                i = t.past_brackets(i) + 1
            if t.text(i) not in ("&&", "||"):
                return i
            i += 1

    def namespace(self, i, owner):
        t = self.tokens
        while t.text(i) not in ("{", ";"):
            i += 1
            if i >= len(t.code):
                raise ParseError(t.at(len(t.code) - 1).line)
        if t.text(i) == ";":
            return i + 1
        end = t.close(i)
        self.scope(i + 1, owner, end)
        return end + 1

    def enumeration(self, i):
        t = self.tokens
        name_at = i + 2 if t.text(i + 1) in ("class", "struct") else i + 1
        while t.text(i) not in ("{", ";"):
            i += 1
        if t.text(i) == "{":
            if t.at(name_at).kind == "word":
                self.source.types.append(Type(t.text(name_at), t.at(name_at).line, "enum"))
            i = t.close(i)
        return self.past_semicolon(i)

    def type(self, i):
        """Behind a class definition or declaration; None if this is something else."""
        t = self.tokens
        kind, j = t.text(i), i + 1
        name, specialised = "", False
        while t.text(j) not in ("{", ";", "=", "(", ":"):
            if t.text(j) == "<":
                specialised = True
                j = t.angle_close(j) or j
            elif t.text(j) == "[":
                j = t.close(j)
            elif t.text(j) == "alignas":
                j = t.close(j + 1)
            elif t.at(j).kind == "word" and t.text(j) != "final":
                if name and t.text(j - 1) == name:  # "struct stat info": a variable
                    return None
                name = t.text(j)
            elif t.at(j) is END:
                raise ParseError(t.at(i).line)
            j += 1
        if t.text(j) in ("=", "("):
            return None
        while t.text(j) not in ("{", ";"):
            j = t.past_brackets(j) + 1
        if t.text(j) == ";":
            return j + 1
        made = Type(name, t.at(i).line, kind, specialised=specialised,
                    access="private" if kind == "class" else "public")
        self.source.types.append(made)
        end = t.close(j)
        self.scope(j + 1, made, end)
        return self.past_semicolon(end)

    def past_semicolon(self, i):
        t = self.tokens
        while t.text(i) != ";" and i < len(t.code):
            i = t.past_brackets(i) + 1
        return i + 1

    def past_statement(self, i, owner, first):
        """A declaration without a body of its own, but perhaps with lambdas or a friend's body."""
        t = self.tokens
        if t.text(i) == "using" and t.text(i + 2) == "=" and owner is None:
            self.source.types.append(Type(t.text(i + 1), t.at(i).line, "alias"))
        if t.text(i) == "friend":
            return self.function_or_variable(first, i + 1, owner)
        return self.past_semicolon(i)

    def function_or_variable(self, first, i, owner):
        t = self.tokens
        virtual = False
        j, name = i, ""
        while True:
            text = t.text(j)
            if t.at(j) is END:
                raise ParseError(t.at(first).line)
            if text == "operator":
                name, j = self.operator_name(j)
                return self.function(first, j, name, owner, virtual)
            if text == "virtual":
                virtual = True
            elif text == "<":
                j = t.angle_close(j) or j
            elif text == "[":
                j = t.close(j)
            elif text == "(":
                before = t.at(j - 1)
                is_name = before.kind == "word" or before.text == ">"
                is_pointer = t.text(j + 1) == "*"  # to a function
                if is_name and not is_pointer and before.text not in _NOT_NAMES:
                    return self.function(first, j, self.name_before(j), owner, virtual)
                j = t.close(j)
            elif text in ("=", "{", ";"):
                return self.variable(first, j, owner)
            elif text == ":":  # the width of a bit field
                return self.variable(first, j, owner)
            j += 1

    def operator_name(self, j):
        t = self.tokens
        name = "operator"
        j += 1
        if t.text(j) == "(":
            return "operator()", j + 2
        while t.text(j) != "(":
            name += (" " if t.at(j).kind == "word" else "") + t.text(j)
            j += 1
        return name, j

    def qualifier(self, parenthesis, name):
        """The class in "Class::name(" or "Class<Number>::name(", or nothing."""
        t = self.tokens
        i = parenthesis - 1
        if t.text(i) != name or t.text(i - 1) != "::":
            return ""
        return t.text(self.before_arguments(i - 2))

    def before_arguments(self, j):
        """From the last token of a name to the name, past the arguments of a template."""
        t = self.tokens
        if t.text(j) != ">":
            return j
        depth = 0
        while j > 0:
            depth += {">": 1, "<": -1}.get(t.text(j), 0)
            j -= 1
            if depth == 0:
                break
        return j

    def name_before(self, j):
        j = self.before_arguments(j - 1)
        return ("~" if self.tokens.text(j - 1) == "~" else "") + self.tokens.text(j)

    def function(self, first, parenthesis, name, owner, virtual):
        t = self.tokens
        if owner is not None and virtual and not name.startswith("~"):
            owner.virtuals += 1
        made = Function(name, t.at(first).line, t.at(parenthesis).line,
                        parameters=t.count_parameters(parenthesis),
                        owner=owner.name if owner else self.qualifier(parenthesis, name))
        if _MACRO.match(name):
            made.kind, made.parameters = "test", 0
            inside = t.code[parenthesis + 1:t.close(parenthesis)]
            made.name = ".".join(token.text for token in inside[:3] if token.kind == "word")
        self.source.functions.append(made)
        behind = t.close(parenthesis) + 1
        i = self.past_signature(behind)
        qualifiers = {token.text for token in t.code[behind:i]}
        made.overrides = "override" in qualifiers
        is_friend = any(token.text == "friend" for token in t.code[first:parenthesis])
        if owner is not None and not is_friend and not qualifiers & {"default", "delete"}:
            owner.add_function(name)
        if t.text(i) != "{":
            made.kind = "macro" if made.kind == "test" else "declaration"
            return i + 1
        outer, self.current = self.current, made
        end = self.block(i, 0)
        self.current = outer
        made.last = t.at(end).line
        return end + 1

    def past_signature(self, i):
        """To the body's brace or the semicolon, past qualifiers and initialisers of members."""
        t = self.tokens
        while t.text(i) not in ("{", ";", ":"):
            if t.at(i) is END:
                raise ParseError(t.at(i - 1).line)
            i = t.past_brackets(i) + 1
        if t.text(i) != ":":
            return i
        i += 1
        while True:
            while t.text(i) not in ("(", "{"):
                if t.at(i) is END:
                    raise ParseError(t.at(i - 1).line)
                i = (t.past_brackets(i) if t.text(i) == "<" else i) + 1
            i = t.close(i) + 1
            if t.text(i) == "...":
                i += 1
            if t.text(i) != ",":
                return i
            i += 1

    def variable(self, first, i, owner):
        t = self.tokens
        name_at = i - 1
        while t.text(name_at) == "]":
            while t.text(name_at) != "[":
                name_at -= 1
            name_at -= 1
        made = Function(t.text(name_at), t.at(first).line, t.at(i).line, kind="table")
        words = {token.text for token in t.code[first:i]}
        private = owner is not None and owner.access == "private"
        if private and t.text(name_at) != ")" and not words & {"static", "friend", "using"}:
            self.source.private_members.append(
                Member(t.text(name_at), t.at(name_at).line, owner.name))
        outer, self.current = self.current, made
        end = self.expression(i, 0)
        self.current = outer
        made.last = t.at(end).line
        if owner is None and made.last > made.first and "constexpr" not in words:
            self.source.functions.append(made)
        return end + 1


def parse(code):
    return Parser(code).parse()
