"""Several models under deadlines."""
import atexit
import os
import threading
import weakref
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Union

from . import _core
from .handles import Handle
from .models import Model, model_of
from .progress import listening
from .units import seconds


class Bound(NamedTuple):
    """A group of a deployment; times in seconds."""
    group: str
    period: float
    deadline: float
    bound: Optional[float]  # no response is longer; None: not active in the first scenario
    is_application: bool


class GroupResult(NamedTuple):
    """What became of a frame of a group; times in seconds."""
    group: str
    frame: int  # of those that were due, from 0
    input: int  # the number of the frame that was fed, from 0; -1: it has what other groups wrote alone
    repeated: bool  # no newer one had come
    outputs: dict  # arrays by name, of a model
    findings: dict  # of an application
    response: float  # from when the frame was due
    deadline: float
    bound: Optional[float]
    missed: bool  # the deadline
    source: str  # the picture's name, of a group with its own input
    arrived: float  # moments as of time.monotonic(): when the frame came,
    due: float  # was due,
    released: float  # could run,
    end: float  # and was done


class GroupReport(NamedTuple):
    """A group's frames in a run."""
    group: str
    due: int
    done: int
    skipped: int
    missed: int  # deadlines
    submitted: int  # of an own input: pictures that came
    overwritten: int  # by newer ones, or dropped by the input's policy
    repeated: int  # done with an input that had been used before
    without_input: int
    undelivered: int  # results that the callback was too slow for
    largest_response: float  # seconds
    kept: str  # what was written to files
    held: int  # frames that waited for the group's budget
    longest_held: float  # seconds
    overruns: int  # how often frames took more than the budget gives them


class ChainBound(NamedTuple):
    """What was proven of a chain, in the first scenario; seconds, None: no bound."""
    chain: str
    reaction: Optional[float]  # from a change that the first group has just missed to the end of the last one that knows it
    age: Optional[float]  # of what the last group uses, from when the first one's frame was due


class ChainReport(NamedTuple):
    """What was seen of a chain in a scenario at a level; times in seconds."""
    chain: str
    scenario: str
    level: int
    frames: int  # of the last group
    age: float  # the largest
    age_bound: Optional[float]
    reaction: float  # the longest
    reaction_bound: Optional[float]


class Rows(list):
    """Named tuples, as a list."""

    def to_pandas(self):
        """A pandas.DataFrame, if pandas is installed."""
        import pandas
        return pandas.DataFrame(list(self), columns=self[0]._fields if self else None)


class System:
    """Groups that run at the same time: System("robot.yaml"), or built call by call."""

    def __init__(self, file: Union[str, os.PathLike, None] = None, *, name: str = "system"):
        self.file = None if file is None else os.fspath(file)
        self.name = name
        self._groups: List[dict] = []
        self._edges: List[dict] = []
        self._chains: List[dict] = []

    def add(self, name: str, model, *, rate: float, deadline=None, priority: Optional[int] = None,
            jitter=0, offset=0, min_distance=0, sporadic: bool = False, burst: int = 1, burst_distance=0,
            aperiodic: bool = False, budget=None, budget_every=None) -> "System":
        """A group. model: as of millrace.plan, or an application's file (.yaml); rate: frames per second;
        deadline: seconds or "200ms", from when a frame comes; none: the period; priority: higher is more urgent.

        When frames come: up to jitter after they are due, the first an offset after the begin, never closer than
        min_distance; sporadic: never more often than the rate; burst: so many are due together, burst_distance apart;
        aperiodic: at any time, the rate is their average, with a budget only.

        budget: time of all processors together that frames may take in any budget_every, else in a period; others wait."""
        if self.file is not None:
            raise _core.Error(f"{self.file}: a system of a file has its groups there; add '{name}' to the file")
        group = {"name": name, "rate": float(rate), "priority": priority,
                 "deadline": None if deadline is None else seconds(deadline), "sporadic": bool(sporadic),
                 "burst": int(burst), "jitter": seconds(jitter), "offset": seconds(offset),
                 "min_distance": seconds(min_distance), "burst_distance": seconds(burst_distance),
                 "aperiodic": bool(aperiodic), "budget": None if budget is None else seconds(budget),
                 "budget_every": None if budget_every is None else seconds(budget_every)}
        if isinstance(model, (str, os.PathLike)) and os.fspath(model).endswith((".yaml", ".yml")):
            group["application"] = os.fspath(model)
        else:
            group["model"] = model_of(model)._core
        self._groups.append(group)
        return self

    def connect(self, source: str, target: str, *, output: str = "", input: str = "", queue: int = 0) -> "System":
        """A group reads an output of another one's model when its frame begins; their rates may differ.

        output, input: names of the models' tensors; empty: the only one. queue: so many values wait, and each is read
        once; 0: the newest is read, again if nothing newer has come."""
        self._edges.append({"from": source, "to": target, "output": output, "input": input, "queue": int(queue)})
        return self

    def chain(self, name: str, groups: Sequence[str], *, reaction=None, age=None) -> "System":
        """Groups of which each reads the one before: their reaction and data age are bounded and measured.

        reaction, age: at most, seconds or "200ms"; none: only told."""
        limits = {key: None if limit is None else seconds(limit) for key, limit in (("reaction", reaction), ("age", age))}
        self._chains.append({"name": name, "groups": list(groups), **limits})
        return self


class Deployment(Handle):
    """Plans, processors and priorities of all groups, with proven response times.

    Deployment("robot.deployment.json") reads a file.
    """

    def __init__(self, path: Union[str, os.PathLike]):
        self._core = _core.Deployment.from_file(os.fspath(path))

    @property
    def bounds(self) -> List[Bound]:
        """By group."""
        return Rows(Bound(*row) for row in self._core.groups)

    @property
    def chains(self) -> List[ChainBound]:
        """Of groups that read each other."""
        return Rows(ChainBound(*row) for row in self._core.chains)

    @property
    def scenarios(self) -> List[str]:
        return self._core.scenarios

    def save(self, path: Union[str, os.PathLike]) -> None:
        self._core.save(os.fspath(path))

    def run(self, *, scenario: str = "", every: bool = False, own_inputs: Sequence[str] = (),
            output: Union[str, os.PathLike] = "") -> "Run":
        """Starts it. every: frames wait in line, up to eight; else a newer one takes the place of one that waits.

        own_inputs: groups that read the cameras or files that their applications name; the others are fed.
        output: a folder in which groups with applications write their results, too.
        """
        return Run(self, {"scenario": scenario, "every": bool(every), "own_inputs": list(own_inputs),
                          "output": os.fspath(output)})

    def __str__(self):
        lines = [f"{'group':<20} {'period':>10} {'deadline':>10} {'bound':>10}"]
        for row in self.bounds:
            bound = f"{1e3 * row.bound:7.2f} ms" if row.bound is not None else "-"
            lines.append(f"{row.group:<20} {1e3 * row.period:7.2f} ms {1e3 * row.deadline:7.2f} ms {bound:>10}")
        return "\n".join(lines)

    __repr__ = __str__


_open = weakref.WeakSet()


@atexit.register
def _stop_all():
    """The interpreter must not end before the threads that call it."""
    for run in list(_open):
        if run._process == os.getpid():
            run.stop()


class Run:
    """A deployment at work. Frames of a group are due at its rate; then it takes the newest that was fed."""

    def __init__(self, deployment: Deployment, settings: dict):
        self._callbacks: Dict[str, Callable[[GroupResult], None]] = {}
        self._groups = [row.group for row in deployment.bounds]
        self._reports: Optional[List[GroupReport]] = None
        self._chains: Optional[List[ChainReport]] = None
        self._stopping = threading.Lock()
        callbacks = self._callbacks  # not self: the run would keep itself alive

        def take(values):
            result = GroupResult(*values)
            callback = callbacks.get(result.group)
            if callback is not None:
                callback(result)

        self._core = _core.Live(deployment._core, take, settings)
        self._process = os.getpid()
        _open.add(self)

    def on_result(self, group: str, callback: Callable[[GroupResult], None]) -> None:
        """Calls it with each GroupResult of the group, on a thread of the group. What it raises comes out of stop()."""
        self._known(group)
        self._callbacks[group] = callback

    def feed(self, group: str, frame, *, colours: str = "rgb") -> bool:
        """A frame as of Session.submit, or the picture of an application. False: the run has ended."""
        return self._core.feed(group, frame, colours)

    def enter(self, scenario: str, level: Optional[int] = None) -> None:
        """Goes over to a scenario, and a level of its rates; none: the highest."""
        self._core.enter(scenario, level)

    def stop(self) -> List[GroupReport]:
        """Waits for the frames on their way. Raises what a callback raised. Of its own process alone."""
        with self._stopping:
            if self._reports is None:
                self._reports = Rows(GroupReport(*row) for row in self._core.stop())
                self._chains = Rows(ChainReport(*row) for row in self._core.stop_chains())
        return self._reports

    @property
    def chains(self) -> Optional[List[ChainReport]]:
        """After stop()."""
        return self._chains

    @property
    def reports(self) -> Optional[List[GroupReport]]:
        """After stop()."""
        return self._reports

    def _known(self, group):
        if group not in self._groups:
            raise _core.Error(f"group '{group}': is none of the deployment, expected one of {', '.join(self._groups)}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def deploy(system, *, board: str = "", processors: Sequence[str] = (), method: str = "",
           samples: Optional[int] = None, plugins: Sequence[str] = (), seed: int = 1, cache: bool = True,
           progress=None) -> Deployment:
    """Plans for all groups, with priorities and proven response times.

    system: a System, or a file. samples: runs of each task on this machine; none: 200; 0: sums of worst times of layers.
    Error of kind "infeasible" if deadlines cannot be kept. Ctrl-C ends it.
    """
    if not isinstance(system, System):
        system = System(system)
    settings = {"board": board, "processors": list(processors), "method": method, "samples": samples,
                "plugins": list(plugins), "seed": seed, "cache": cache}
    with listening(progress) as listener:
        if system.file is not None:
            return Deployment._of(_core.deploy_file(system.file, settings, listener))
        parts = {"name": system.name, "groups": system._groups, "edges": system._edges, "chains": system._chains}
        return Deployment._of(_core.deploy(parts, settings, listener))
