"""What classes that stand for an object of the library share."""


class Handle:
    """Holds the object as _core; __init__ makes one, _of takes one that is there."""

    @classmethod
    def _of(cls, core):
        made = cls.__new__(cls)
        made._core = core
        return made
