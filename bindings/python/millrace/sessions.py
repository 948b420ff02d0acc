"""Plans at work: frames in, results out."""
import atexit
import weakref
from typing import Iterable, Iterator, List, NamedTuple, Optional

from . import _core
from .models import TensorInfo, model_of


class Outputs(dict):
    """A frame's outputs by name, numpy arrays.

    frame: its number, from 0; latency: seconds from its submission to its last output.
    """
    __slots__ = ("frame", "latency")


class StageStatistics(NamedTuple):
    """What a stage did; times in seconds."""
    name: str
    frames: int
    busy: float
    waiting: float
    memory_bytes: int


_open = weakref.WeakSet()


@atexit.register
def _close_all():
    for session in list(_open):
        session.close()


class Session:
    """A plan at work. Any thread may call any function; the interpreter is free while they wait.

    A frame is a dict of arrays by input, a list of arrays in the model's order, or the array of the only
    input. Arrays of numpy, DLPack or the buffer protocol are not copied if they lie in a row. Do not change them before
    their result is there. Outputs are numpy arrays that keep their memory.
    A session belongs to the process that started it: after a fork, start another one in the child.
    """

    def __init__(self, plan, *, pin: bool = True):
        self._core = _core.Session(plan._core, pin, Outputs)
        _open.add(self)

    def map(self, frames: Iterable) -> Iterator[Outputs]:
        """The outputs of the frames, in order, with as many frames on their way as the plan holds."""
        return _core.Map(self._core, frames)

    def submit(self, frame) -> None:
        """Puts in a frame. Waits while `depth` frames are on their way; another thread may take results."""
        self._core.submit(frame)

    def next(self, timeout: Optional[float] = None) -> Optional[Outputs]:
        """The next result, in order; waits for it. None after finish() when all were taken.

        timeout: seconds; TimeoutError if it does not come before.
        """
        return self._core.next(timeout)

    def run(self, frame) -> Outputs:
        """submit() and next() of one frame; any thread, one frame after the other."""
        return self._core.run(frame)

    def finish(self) -> None:
        """No more frames come; those on their way arrive."""
        self._core.finish()

    def close(self) -> None:
        """Ends the threads; frames on their way are dropped."""
        self._core.close()

    @property
    def depth(self) -> int:
        """So many frames may be on their way."""
        return self._core.depth

    @property
    def in_flight(self) -> int:
        """Frames that were submitted and whose results were not taken."""
        return self._core.in_flight

    def statistics(self) -> List[StageStatistics]:
        return [StageStatistics(*row) for row in self._core.statistics()]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class InferenceSession:
    """For programs that use onnxruntime: the same common calls.

    path_or_bytes: a model's file, its bytes, a plan's file (.json), or a Plan. The model is planned first; its
    measurements are kept in the cache. providers, provider_options and sess_options are accepted and not used.
    Further arguments go to millrace.plan().
    """

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **plan_options):
        from .plans import Plan, plan
        if isinstance(path_or_bytes, Plan):
            made = path_or_bytes
        elif not isinstance(path_or_bytes, (bytes, bytearray)) and str(path_or_bytes).endswith(".json"):
            made = Plan(path_or_bytes)
        else:
            made = plan(model_of(path_or_bytes), **plan_options)
        self._plan = made
        self._session = made.session()
        self._inputs, self._outputs = made.model.inputs, made.model.outputs

    def get_inputs(self) -> List["NodeArg"]:
        return [NodeArg(i) for i in self._inputs]

    def get_outputs(self) -> List["NodeArg"]:
        return [NodeArg(o) for o in self._outputs]

    def get_providers(self) -> List[str]:
        return ["MillraceExecutionProvider"]

    def get_modelmeta(self):
        return ModelMetadata(self._plan.model.name, self._plan.model.metadata)

    def run(self, output_names, input_feed, run_options=None) -> list:
        """The outputs of these names, or all; input_feed: arrays by input."""
        outputs = self._session.run(dict(input_feed))
        if output_names is None:
            return [outputs[o.name] for o in self._outputs]
        for name in output_names:
            if name not in outputs:
                known = ", ".join(o.name for o in self._outputs)
                raise _core.Error(f"output '{name}': is none of the model, expected one of {known}")
        return [outputs[name] for name in output_names]


class NodeArg:
    """An input or output as onnxruntime has it: name, shape, type such as "tensor(float)"."""
    _TYPES = {"float32": "float", "float64": "double"}

    def __init__(self, info: TensorInfo):
        self.name = info.name
        self.shape = list(info.shape)
        self.type = f"tensor({self._TYPES.get(info.type, info.type)})"

    def __repr__(self):
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"


class ModelMetadata(NamedTuple):
    graph_name: str
    custom_metadata_map: dict
