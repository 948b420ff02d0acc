"""Models with what stands before and behind them: pictures in, findings out."""
import os
import threading
from typing import Iterator, List, NamedTuple, Optional, Sequence, Tuple

from . import _core
from .models import Model, model_of
from .pictures import file_name_of, pictures_of, write_png
from .plans import Plan, plan as make_plan


class Boxes:
    """The objects of a picture, by falling score.

    xyxy: float32 N x 4, left, top, right, bottom in pixels; score: float32 N; label: int64 N; name: N texts;
    corners: of turned boxes, each 4 x 2; keypoints: each K x 3, x, y and probability; masks: each (left, top,
    uint8 height x width, 1 inside) or None.
    """

    def __init__(self, found: dict, labels: Sequence[str]):
        self.xyxy, self.score, self.label = found["xyxy"], found["score"], found["label"]
        self.name = [_name(label, labels) for label in self.label]
        self.corners, self.keypoints, self.masks = found["corners"], found["keypoints"], found["masks"]

    def __len__(self):
        return len(self.name)


class Class(NamedTuple):
    label: int
    name: str
    score: float


class Text(NamedTuple):
    text: str
    score: float


class Crop(NamedTuple):
    """What the second network of an application with `crops` found around a box."""
    box: int  # its number in Boxes
    xyxy: Tuple[int, int, int, int]  # in whole pixels of the picture
    classes: Optional[List[Class]]  # by falling score
    embedding: Optional[object]  # float32
    text: Optional[Text]
    json: Optional[str]


class Result:
    """What was found on a picture. What the head does not give is None.

    source: the file's name, of a video with the frame's number; frame: from 0; latency: seconds;
    boxes: Boxes; classes: a list of Class, by falling score; map: uint8 height x width, the class of each pixel;
    embedding: float32; text: Text; crops: a list of Crop, by falling score of the boxes, of an application's file
    with `crops`.
    """

    def __init__(self, outcome, source: str, labels: Sequence[str], labels_of_crops: Sequence[str] = ()):
        found = outcome.findings
        self._outcome = outcome
        self.source, self.frame, self.latency = source, outcome.frame, outcome.latency
        self.boxes: Optional[Boxes] = Boxes(found["boxes"], labels) if "boxes" in found else None
        self.classes = _classes(found, labels)
        self.map = found.get("map")
        self.embedding = found.get("embedding")
        self.text = _text(found)
        self.json = found.get("json")
        self.crops: List[Crop] = [
            Crop(each["box"], each["xyxy"], _classes(each, labels_of_crops), each.get("embedding"), _text(each),
                 each.get("json")) for each in found.get("crops", ())]

    @property
    def picture(self):
        """uint8, height x width x 3, red first."""
        return self._outcome.pixels

    def plot(self):
        """The picture with the findings on it; uint8, height x width x 3, red first."""
        return self._outcome.drawn()

    def to_json(self) -> str:
        """What was found, as in a line of `millrace run`: '{"detections":[...]}'."""
        return self._outcome.to_json()

    def save(self, path) -> str:
        """Writes plot() as PNG, to a file or into a folder; the file's name."""
        path = os.fspath(path)
        if not path.lower().endswith(".png"):
            os.makedirs(path, exist_ok=True)
            path = os.path.join(path, file_name_of(self.source, self.frame))
        write_png(path, self.plot())
        return path


def _name(label, labels):
    return labels[label] if 0 <= label < len(labels) else str(label)


def _classes(found, labels) -> Optional[List[Class]]:
    if "classes" not in found:
        return None
    return [Class(label, _name(label, labels), value) for label, value in found["classes"]]


def _text(found) -> Optional[Text]:
    return Text(*found["text"]) if "text" in found else None


class _Head:
    """Pictures through a model.

    model: a file, a name of the zoo, a Model, or an application's file (.yaml), which then says all else.
    plan: a Plan of the model, or its file; none: one is made, and plan_options go to millrace.plan().
    labels: names of the classes; none: those in the model's metadata.
    letterbox: the picture keeps its proportions; else it is stretched. The input is each byte times scale, less mean, by
    deviation. model_colours: "rgb", "bgr" or "grey"; none: grey if the input has one channel, else rgb.
    """
    _kind = ""
    _letterbox = False

    def __init__(self, model, *, plan=None, labels: Sequence[str] = (), letterbox: Optional[bool] = None,
                 scale: float = 1 / 255, mean: Sequence[float] = (0, 0, 0), deviation: Sequence[float] = (1, 1, 1),
                 fill: float = 0.5, model_colours: Optional[str] = None, threshold: float = 0.25, overlap: float = 0.45,
                 top: int = 5, head: str = "", **plan_options):
        if isinstance(model, (str, os.PathLike)) and os.fspath(model).endswith((".yaml", ".yml")):
            self._application = _core.Application.from_file(os.fspath(model))
        else:
            made = model_of(model)
            settings = {"kind": self._kind, "labels": list(labels), "scale": scale, "mean": list(mean),
                        "deviation": list(deviation), "fill": fill, "model_colours": model_colours or _colours_of(made),
                        "threshold": threshold, "overlap": overlap, "top": top, "head": head,
                        "letterbox": self._letterbox if letterbox is None else letterbox}
            self._application = _core.Application.of(made._core, settings)
        self.model = Model._of(self._application.model)
        self.labels: List[str] = list(self._application.labels) or _labels_in(self.model)
        if isinstance(plan, (str, os.PathLike)):
            plan = Plan(plan, self.model)
        self.plan: Plan = plan or make_plan(self.model, **plan_options)
        self._running = None

    def __call__(self, source, *, colours: str = "rgb") -> Iterator[Result]:
        """Results in order, one for each picture, with as many on their way as the plan holds.

        source: a picture, a folder, a video (with cv2 or av), an array of uint8 height x width x 3 or height x width, a
        PIL picture, or an iterable of these. colours: of arrays, "rgb" or "bgr".
        """
        session = _core.ApplicationSession(self._application, self.plan._core)
        try:
            names = []
            for name, image in pictures_of(source, colours):
                if len(names) == session.depth:
                    yield self._result(session.next(), names.pop(0))
                session.submit(image)
                names.append(name)
            session.finish()
            for name in names:
                yield self._result(session.next(), name)
        finally:
            session.close()

    def run(self, picture, *, colours: str = "rgb") -> Result:
        """The result of one picture; any thread, one picture after the other."""
        name, image = next(pictures_of(picture, colours))
        session, one = self._of_this_process()
        with one:
            session.submit(image)
            return self._result(session.next(), name)

    def _of_this_process(self):
        """A session and its lock. A child of fork() has none of its parent's threads."""
        if self._running is None or self._running[0] != os.getpid():
            self._running = (os.getpid(), _core.ApplicationSession(self._application, self.plan._core),
                             threading.Lock())
        return self._running[1:]

    def _result(self, outcome, source):
        return Result(outcome, source, self.labels, self._application.labels_of_crops)


def _colours_of(model):
    shape = model.inputs[0].shape
    return "grey" if len(shape) == 4 and 1 in (shape[1], shape[3]) else "rgb"


def _labels_in(model):
    """The dict "{0: 'person', 1: 'bicycle'}" that exporters write."""
    import ast
    try:
        names = ast.literal_eval(model.metadata.get("names", ""))
    except (ValueError, SyntaxError):
        return []
    return [str(names[key]) for key in sorted(names)] if isinstance(names, dict) else [str(n) for n in names]


class Detector(_Head):
    __doc__ = ("Boxes around objects. " + _Head.__doc__ + """    threshold: of a box's score; overlap: of two boxes of a class that overlap by more the better one stays.
    kind: "detect", or "yolo" or "region" for Darknet's heads.
    """)
    _letterbox = True

    def __init__(self, model, *, kind: str = "detect", **options):
        self._kind = kind
        super().__init__(model, **options)


class Segmenter(_Head):
    __doc__ = "The class of each pixel, or masks of objects (head=\"yolo\"...). " + _Head.__doc__
    _kind = "segmentation"

    def __init__(self, model, *, objects: bool = False, **options):
        if objects:
            self._kind, self._letterbox = "detect", True
        super().__init__(model, **options)


class Pose(_Head):
    __doc__ = "Key points of people. " + _Head.__doc__
    _kind = "keypoints"

    def __init__(self, model, *, boxes: bool = True, **options):
        if boxes:
            self._kind, self._letterbox = "detect", True
        super().__init__(model, **options)


class Classifier(_Head):
    __doc__ = "The likeliest classes of a picture. " + _Head.__doc__ + "\n    top: how many.\n"
    _kind = "top_k"


class TextReader(_Head):
    __doc__ = "The line of text on a picture. " + _Head.__doc__
    _kind = "text"
