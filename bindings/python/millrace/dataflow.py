"""Dataflow graphs (SDF and CSDF): sound, how fast, with how much memory?"""
from fractions import Fraction
from typing import List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _core


class Throughput(NamedTuple):
    """period: time of an iteration in the graph's unit, None: unlimited; critical: (actor, phase) on the critical cycle."""
    period: Optional[Fraction]
    critical: Tuple[Tuple[str, int], ...]


class Buffers(NamedTuple):
    """With so much space, one iteration takes `period`; capacities: tokens by channel."""
    total: int
    period: Fraction
    capacities: Tuple[int, ...]


def _list(numbers):
    return [numbers] if isinstance(numbers, int) else list(numbers)


class Graph:
    """Actors that fire their phases in order, and channels between them. Times are whole numbers of any unit.

    Graph({"source": 1, "filter": [2, 3]}, [("source", "filter", 1, [2, 1])]): times by actor and phase; channels as
    (from, to, produced, consumed) with rates by phase, and initial tokens as a fifth.
    """

    def __init__(self, actors=None, channels: Sequence = (), *, name: str = "graph"):
        self._core = _core.Graph()
        self._core.name = name
        self._actors, self._channels = {}, []
        for actor, times in (actors or {}).items():
            self.actor(actor, times)
        for channel in channels:
            self.channel(*channel)

    def actor(self, name: str, times: Union[int, Sequence[int]], *, concurrent: bool = False) -> "Graph":
        self._actors[name] = self._core.add_actor(name, _list(times), concurrent)
        return self

    def channel(self, source: str, target: str, produced=1, consumed=1, tokens: int = 0, *,
                name: str = "", capacity: Optional[int] = None) -> "Graph":
        for actor in (source, target):
            if actor not in self._actors:
                raise _core.Error(f"channel: '{actor}' is no actor; add it first")
        self._channels.append(name or f"{source}-{target}")
        self._core.add_channel(self._channels[-1], (self._actors[source], self._actors[target]),
                               (_list(produced), _list(consumed), tokens))
        self._core.check()
        if capacity is not None:
            self._channels.append(self._channels[-1] + " space")
            self._core.bound_channel(len(self._channels) - 2, capacity)
        return self

    def repetitions(self) -> dict:
        """Cycles of each actor in an iteration. Error if the rates do not balance."""
        return dict(zip(self._actors, self._core.repetitions()))

    def is_live(self) -> bool:
        """Whether it balances and never deadlocks."""
        return not self._core.why_not_live()

    def throughput(self) -> Throughput:
        """The pace of the fastest schedule. Error, with the reason, of a graph that deadlocks."""
        span, iterations, critical = self._core.throughput()
        return Throughput(Fraction(span, iterations) if span else None, critical)

    def latency(self) -> int:
        """From the start to the end of the first iteration, if all fire as soon as they can."""
        return self._core.latency()

    def buffers(self) -> List[Buffers]:
        """The least space for each throughput that is possible."""
        return [Buffers(total, Fraction(*period), capacities) for total, period, capacities in self._core.buffers()]

    def dot(self) -> str:
        """Graphviz text."""
        return self._core.dot()
