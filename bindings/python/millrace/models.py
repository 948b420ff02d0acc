"""Trained networks."""
import os
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _core
from .handles import Handle


class TensorInfo(NamedTuple):
    """An input or output of a model."""
    name: str
    type: str  # as numpy has it: "float32"
    shape: Tuple[int, ...]  # outermost first, such as (1, 3, 224, 224)


class LayerInfo(NamedTuple):
    """A layer of a model, after simplification."""
    name: str
    operation: str  # "Conv"
    macs: int  # multiply-accumulates of a frame
    parameters: int  # numbers
    output_bytes: int  # of a frame


class Model(Handle):
    """A network, read and simplified. It never changes; any thread may use it.

    source: an .onnx or .cfg file, the name of a network of `millrace zoo`, or the bytes of an ONNX file.
    shapes: of inputs whose sizes the model leaves open, by name, such as {"images": (1, 3, 640, 640)}.
    constants: arrays for inputs whose values are known, by name.
    weights: the file of a Darknet model's weights; size: width and height of its pictures.
    """

    def __init__(self, source: Union[str, os.PathLike, bytes], *,
                 shapes: Optional[Mapping[str, Sequence[int]]] = None,
                 constants: Optional[Mapping] = None, weights: str = "",
                 size: Optional[int] = None, name: str = "model"):
        settings = {"shapes": {key: list(value) for key, value in (shapes or {}).items()},
                    "constants": dict(constants or {}), "weights": os.fspath(weights), "size": size}
        if isinstance(source, (bytes, bytearray)):
            self._core = _core.Model.from_memory(bytes(source), name, settings)
        else:
            self._core = _core.Model.from_file(os.fspath(source), settings)

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def inputs(self) -> List[TensorInfo]:
        return [TensorInfo(*row) for row in self._core.inputs]

    @property
    def outputs(self) -> List[TensorInfo]:
        return [TensorInfo(*row) for row in self._core.outputs]

    @property
    def layers(self) -> List[LayerInfo]:
        return [LayerInfo(*row) for row in self._core.layers]

    @property
    def metadata(self) -> Dict[str, str]:
        """What the exporter wrote into the file, such as the classes."""
        return self._core.metadata

    @property
    def hash(self) -> str:
        """32 digits over structure, shapes and weights."""
        return self._core.hash

    def __repr__(self):
        inputs = ", ".join(f"{i.name} {'x'.join(map(str, i.shape))}" for i in self.inputs)
        return f"<millrace.Model {self.name}: {inputs}>"


def model_of(source) -> Model:
    """A model as it is, or of a file, a name or bytes."""
    return source if isinstance(source, Model) else Model(source)
