"""Plans: which layers run where."""
import os
from typing import List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _core
from .handles import Handle
from .models import Model, model_of
from .pictures import frames_of_folder
from .progress import listening
from .sessions import Session
from .units import seconds


class Stage(NamedTuple):
    """One thread of a plan for each of its processors."""
    name: str
    engine: str
    processors: Tuple[str, ...]
    layers: Tuple[str, ...]
    predicted: Optional[float]  # seconds of one frame
    measured: Optional[float]


class Candidate(NamedTuple):
    """A plan that was compared."""
    name: str
    predicted_period: float  # seconds between two frames
    measured_period: Optional[float]
    stages: int
    chosen: bool


class BenchRow(NamedTuple):
    """One way to run the model; times in seconds."""
    name: str
    fps: float  # frames per second, the median of the rounds
    p50: float  # latency of a frame
    p90: float
    p99: float
    largest: float
    speedup: float  # how many times as fast the plan is


class BenchStage(NamedTuple):
    """A stage of the plan, in the pipeline; times in seconds of one frame."""
    name: str
    alone: float
    busy: float
    busy_share: float


class Bench:
    """How fast a plan is beside the usual ways to use the same cores."""

    def __init__(self, found: dict):
        self.rows: List[BenchRow] = [BenchRow(*row) for row in found["rows"]]
        self.stages: List[BenchStage] = [BenchStage(*row) for row in found["stages"]]
        self.bottleneck: int = found["bottleneck"]
        self.share_of_stages: float = found["share_of_stages"]
        self.in_flight: int = found["in_flight"]

    @property
    def fps(self) -> float:
        """Frames per second of the plan."""
        return self.rows[-1].fps

    def __str__(self):
        lines = [f"{'':<32} {'frames/s':>9} {'p50':>9} {'p99':>9} {'plan is':>9}"]
        lines += [f"{row.name:<32.32} {row.fps:9.1f} {1e3 * row.p50:6.2f} ms {1e3 * row.p99:6.2f} ms "
                  f"{row.speedup:7.2f} x" for row in self.rows]
        return "\n".join(lines)

    __repr__ = __str__


class VerifiedPlan(NamedTuple):
    name: str
    frames: int
    error: float  # the largest difference over the largest value
    agreement: str
    amplifiers: Tuple[str, ...]


class Verification:
    """The outputs of plans beside those of a plain sequential run. True if all are right."""

    def __init__(self, found: dict):
        self.plans: List[VerifiedPlan] = [VerifiedPlan(*row) for row in found["plans"]]
        self.first_difference: str = found["first_difference"]

    def __bool__(self):
        return not self.first_difference

    def __str__(self):
        lines = [f"{p.name}: {p.agreement}, {p.frames} frames, error {p.error:.1e}" for p in self.plans]
        return "\n".join(lines + ([self.first_difference] if self.first_difference else []))

    __repr__ = __str__


class Plan(Handle):
    """Which layers of a model run where. It never changes; any thread may use it.

    Plan("m.plan.json") reads a plan's file; model: if the file does not name where the model is.
    """

    def __init__(self, path: Union[str, os.PathLike], model=None):
        given = None if model is None else model_of(model)._core
        self._core = _core.Plan.from_file(os.fspath(path), given)

    @property
    def model(self) -> Model:
        return Model._of(self._core.model)

    @property
    def stages(self) -> List[Stage]:
        return [Stage(*row) for row in self._core.stages]

    @property
    def candidates(self) -> List[Candidate]:
        """The plans that this one was compared with; of a plan from a file none."""
        return [Candidate(*row) for row in self._core.candidates]

    @property
    def predicted_period(self) -> Optional[float]:
        """Seconds between two frames, by the plan's dataflow graph."""
        return self._core.predicted_period

    @property
    def measured_period(self) -> Optional[float]:
        """Seconds between two frames, while the plan was made."""
        return self._core.measured_period

    def save(self, path: Union[str, os.PathLike]) -> None:
        """Writes the plan's file, which `millrace run` and Plan() read."""
        self._core.save(os.fspath(path))

    def report(self, path: Union[str, os.PathLike]) -> None:
        """Writes one HTML page: the network, its stages, the predicted course, times, memory, the proof."""
        self._core.report(os.fspath(path))

    def session(self, *, pin: bool = True) -> Session:
        """Starts the plan's stages. pin: each thread to its processor's cores."""
        return Session(self, pin=pin)

    def bench(self, *, seconds: Union[float, str] = 5, rounds: Optional[int] = None,
              in_flight: Optional[int] = None, beside: Sequence["Plan"] = (),
              baselines: bool = True, progress=None) -> Bench:
        """Runs the plan under load beside simple ways. seconds: of each row; beside: other plans."""
        settings = {"seconds": _seconds(seconds), "rounds": rounds, "in_flight": in_flight,
                    "beside": [other._core for other in beside], "baselines": baselines}
        with listening(progress) as listener:
            return Bench(_core.bench(self._core, settings, listener))

    def verify(self, frames: Sequence = (), *, random_mappings: int = 2, against: str = "reference",
               tolerance: Optional[float] = None, progress=None) -> Verification:
        """Compares the plan's outputs with a plain sequential run in float32.

        frames: as Session.submit takes them; none: a few random ones. tolerance: share of the largest value.
        """
        settings = {"frames": list(frames), "random_mappings": random_mappings, "against": against,
                    "tolerance": tolerance}
        with listening(progress) as listener:
            return Verification(_core.verify(self._core, settings, listener))

    def __str__(self):
        period = self.measured_period or self.predicted_period
        how = "measured" if self.measured_period else "predicted"
        lines = [f"{self.model.name}: " + (f"{1 / period:.1f} frames/s {how}" if period else "a plan")]
        others = [c for c in self.candidates if c.measured_period and not c.chosen]
        if others and self.measured_period:
            best = min(others, key=lambda c: c.measured_period)
            lines[0] += f", {best.measured_period / self.measured_period:.2f} x '{best.name}'"
        for stage in self.stages:
            time = stage.measured or stage.predicted
            lines.append(f"  {stage.name} on {', '.join(stage.processors)} ({stage.engine}): "
                         f"{len(stage.layers)} layers" + (f", {1e3 * time:.2f} ms" if time else ""))
        return "\n".join(lines)

    def __repr__(self):
        return f"<millrace.Plan of {self.model.name}, {len(self.stages)} stages>"

    def _repr_html_(self):
        from html import escape
        verdict = escape(str(self).splitlines()[0])
        rows = "".join(
            f"<tr><td>{escape(s.name)}</td><td>{escape(', '.join(s.processors))}</td>"
            f"<td>{escape(s.engine)}</td><td>{len(s.layers)}</td><td>{1e3 * (s.measured or s.predicted or 0):.2f}</td>"
            f"<td><div style='background:#58a;height:1em;width:{self._width(s)}px'></div></td></tr>"
            for s in self.stages)
        return (f"<p>{verdict}</p><table><tr><th>stage</th><th>processors</th><th>engine</th>"
                f"<th>layers</th><th>ms</th><th></th></tr>{rows}</table>")

    def _width(self, stage):
        longest = max((s.measured or s.predicted or 0) for s in self.stages)
        return round(200 * (stage.measured or stage.predicted or 0) / longest) if longest else 0


_seconds = seconds


def plan(model, *, precision: Union[str, Sequence[str]] = (), calibration=None, samples: Sequence = (),
         processors: Sequence[str] = (), engine: str = "", board: str = "", limits: str = "",
         search: str = "auto", measure: Union[float, str] = 0.5, max_error: Optional[float] = None,
         max_loss: Optional[float] = None, max_latency: Union[float, str, None] = None,
         max_batch: Optional[int] = None, max_memory: Optional[int] = None, streams: int = 1,
         seed: int = 1, cache: bool = True, progress=None) -> Plan:
    """Measures the model's layers, searches and measures plans, and proves the best.

    model: a Model, a file, a name of the zoo, or bytes.
    precision: of "f32", "f16", "bf16", "int8", which layers may compute in.
    calibration: for int8, a table's file, a folder of pictures, or frames.
    samples: frames on which max_loss, a share such as 0.01, is measured.
    processors: their names; none: all. board: a board's file or name, with modelled times.
    measure: seconds for each candidate; 0: predictions decide. max_latency: seconds, or "100ms".
    progress: None, True, False, or an object with note() and progress().
    Error of kind "infeasible" if nothing meets the request. Ctrl-C ends it.
    """
    given = model_of(model)
    if isinstance(precision, str):
        precision = [precision]
    frames = list(samples)
    table = None
    with listening(progress) as listener:
        if isinstance(calibration, (str, os.PathLike)) and os.path.isfile(calibration):
            table = _core.Calibration.from_file(os.fspath(calibration), given._core)
        elif calibration is not None:
            if isinstance(calibration, (str, os.PathLike)):
                calibration = frames_of_folder(given, os.fspath(calibration))
            table = _core.calibrate(given._core, list(calibration), listener)
        settings = {
            "precision": list(precision), "calibration": table, "samples": frames,
            "processors": list(processors), "engine": engine, "board": board, "limits": limits,
            "search": search, "measure": seconds(measure), "max_error": max_error,
            "max_loss": max_loss, "max_latency": None if max_latency is None else seconds(max_latency),
            "max_batch": max_batch, "max_memory": max_memory, "streams": streams, "seed": seed,
            "cache": cache,
        }
        return Plan._of(_core.plan(given._core, settings, listener))
