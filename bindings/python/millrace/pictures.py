"""Pictures from files, videos, arrays and others' objects, as numpy arrays."""
import os
import struct
import zlib
from typing import Iterator

from ._core import Error, Image

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".ppm", ".tif", ".tiff", ".webp")


def _module(name):
    try:
        return __import__(name)
    except ImportError:
        return None


def read_picture(path: str) -> Image:
    """By the library's own decoders, or the user's cv2 or PIL."""
    try:
        return Image.from_file(path)
    except Error as error:
        if not os.path.isfile(path) or error.kind == "input" and "found" in str(error):
            raise
        own = error
    cv2 = _module("cv2")
    if cv2 and (pixels := cv2.imread(path)) is not None:
        return Image.of(pixels, "bgr")
    if _module("PIL"):
        import numpy
        from PIL import Image as pil
        with pil.open(path) as picture:
            return Image.of(numpy.array(picture.convert("RGB")), "rgb")
    raise Error(f"{path}: cannot be decoded here; install opencv-python-headless or pillow, or give arrays") from own


def frames_of_video(path: str) -> Iterator:
    """By the user's cv2 or av."""
    if cv2 := _module("cv2"):
        video = cv2.VideoCapture(path)
        if not video.isOpened():
            raise Error(f"{path}: is no video that cv2 reads; give another file")
        try:
            while True:
                there, pixels = video.read()
                if not there:
                    return
                yield Image.of(pixels, "bgr")
        finally:
            video.release()
    elif av := _module("av"):
        with av.open(path) as container:
            for frame in container.decode(video=0):
                yield Image.of(frame.to_ndarray(format="rgb24"), "rgb")
    else:
        raise Error(f"{path}: videos need opencv-python-headless or av; install one, or give frames as arrays")


def _folder(path):
    names = sorted(n for n in os.listdir(path) if n.lower().endswith(PICTURES))
    if not names:
        raise Error(f"{path}: has no pictures, expected one of {', '.join(PICTURES)}")
    return [os.path.join(path, name) for name in names]


def pictures_of(source, colours: str) -> Iterator:
    """(name, Image) of a file, a folder, a video, an array, a PIL picture, or any iterable of these."""
    if isinstance(source, Image):
        yield "", source
    elif isinstance(source, (str, os.PathLike)):
        yield from _of_path(os.fspath(source))
    elif hasattr(source, "convert") and hasattr(source, "getbands"):  # of PIL
        import numpy
        yield getattr(source, "filename", ""), Image.of(numpy.array(source.convert("RGB")), "rgb")
    elif hasattr(source, "shape") or isinstance(source, (memoryview, bytearray)):
        yield "", Image.of(source, colours)
    else:
        try:
            each = iter(source)
        except TypeError:
            raise Error(f"source: found a {type(source).__name__}, expected a file, a folder, an array or an "
                        "iterable of these") from None
        for one in each:
            yield from pictures_of(one, colours)


def _of_path(path):
    if os.path.isdir(path):
        for name in _folder(path):
            yield name, read_picture(name)
    elif path.lower().endswith(PICTURES) or not os.path.exists(path):
        yield path, read_picture(path)
    else:
        for number, image in enumerate(frames_of_video(path)):
            yield f"{path} {number}", image


def frames_of_folder(model, path: str):
    """What `millrace calibrate --input` reads: a folder of pictures, a picture or a .npy."""
    from . import _core
    return _core.read_frames(model._core, [path])


def write_png(path: str, pixels) -> None:
    """pixels: uint8, height x width x 3, red first."""
    height, width = pixels.shape[:2]
    rows = b"".join(b"\0" + pixels[y].tobytes() for y in range(height))

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 6))
                   + chunk(b"IEND", b""))


def file_name_of(name: str, number: int) -> str:
    base = os.path.splitext(os.path.basename(name.split(" ")[0]))[0] if name else "picture"
    return f"{base}-{number:06d}.png"


