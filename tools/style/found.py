"""What the parser finds in one file."""
from dataclasses import dataclass, field


@dataclass
class Function:
    """A function, a test body, or a braced table at namespace scope."""
    name: str
    first: int
    last: int
    kind: str = "function"  # function, declaration, test, table, macro
    parameters: int = 0
    nesting: int = 0
    nesting_line: int = 0
    owner: str = ""  # the class it is declared in
    overrides: bool = False


@dataclass
class Type:
    name: str
    line: int
    kind: str
    virtuals: int = 0
    specialised: bool = False
    access: str = "public"  # of the member that is read next
    public_functions: set = field(default_factory=set)  # an overloaded one counts once

    def add_function(self, name):
        is_special = name == self.name or name.startswith(("~", "operator"))
        if self.access == "public" and not is_special:
            self.public_functions.add(name)


@dataclass
class Member:
    name: str
    line: int
    owner: str


@dataclass
class Source:
    """What is measured in one file."""
    functions: list = field(default_factory=list)
    types: list = field(default_factory=list)
    private_members: list = field(default_factory=list)
    lambdas: list = field(default_factory=list)
