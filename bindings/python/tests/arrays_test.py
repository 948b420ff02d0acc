"""Arrays in and out: no copies where they fit, and what does not fit is named."""
import array
import gc
import re
import unittest
import weakref

import numpy

import millrace
from support import SANITIZER, digits_model, digits_plan, images

INPUT = digits_model().inputs[0].name
OUTPUT = digits_model().outputs[0].name


class OnlyDlpack:
    """What has DLPack and no buffer, as tensors of other frameworks."""

    def __init__(self, of):
        self._of = of

    def __dlpack__(self, **options):
        return self._of.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._of.__dlpack_device__()


class Arrays(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.session = digits_plan().session()
        cls.image = images(1)[0]
        cls.expected = cls.session.run(cls.image)[OUTPUT].tobytes()

    @classmethod
    def tearDownClass(cls):
        cls.session.close()

    def result_of(self, frame):
        return self.session.run(frame)[OUTPUT].tobytes()

    def test_all_kinds_of_frames_give_the_same(self):
        read_only = self.image.copy()
        read_only.flags.writeable = False
        wide = numpy.zeros((1, 1, 8, 16), numpy.float32)
        wide[..., ::2] = self.image
        odd = numpy.zeros(64 * 4 + 1, numpy.uint8)[1:].view(numpy.float32).reshape(1, 1, 8, 8)
        odd[:] = self.image
        nested = memoryview(array.array("f", self.image.ravel())).cast("B").cast("f", (1, 1, 8, 8))
        for name, frame in {
                "array": self.image, "dict": {INPUT: self.image}, "list": [self.image], "read only": read_only,
                "strided": wide[..., ::2], "Fortran": numpy.asfortranarray(self.image), "memoryview": nested,
                "not aligned": odd, "DLPack": OnlyDlpack(self.image)}.items():
            with self.subTest(name):
                self.assertEqual(self.result_of(frame), self.expected)

    def test_any_alignment_of_numbers_gives_the_same(self):
        memory = numpy.zeros(64 + 32, numpy.float32)
        for offset in range(16):
            frame = memory[offset:offset + 64].reshape(1, 1, 8, 8)
            frame[:] = self.image
            self.assertEqual(self.result_of(frame), self.expected)

    def test_what_does_not_fit_names_the_input(self):
        fits = f"expected float32 1x1x8x8"
        for frame, words in [
                (self.image.astype(numpy.float64), f"input '{INPUT}': found float64 1x1x8x8, {fits}"),
                (self.image[0], f"input '{INPUT}': found float32 1x8x8, {fits}"),
                ({}, f"input '{INPUT}': is missing, {fits}"),
                ({INPUT: self.image, "more": self.image}, "input 'more': is none of the model"),
                ([self.image, self.image], "has 2 arrays, expected 1"),
                ("text", f"input '{INPUT}': found a str, expected an array"),
                (self.image.astype(">f4"), "format '>f'"),
                (self.image.astype(numpy.complex64), "format 'Zf'")]:
            with self.subTest(words), self.assertRaises(millrace.Error) as raised:
                self.session.run(frame)
            self.assertIn(words, str(raised.exception))
            self.assertEqual(raised.exception.kind, "input")

    def test_an_array_in_flight_lives_until_its_result(self):
        frame = self.image.copy()
        gone = weakref.ref(frame)
        self.session.submit(frame)
        del frame
        gc.collect()
        self.assertEqual(self.session.next()[OUTPUT].tobytes(), self.expected)

    def test_arrays_are_released(self):
        alive = weakref.WeakSet()

        class Counted(numpy.ndarray):
            pass

        def frames():
            for _ in range(200):
                frame = self.image.copy().view(Counted)
                alive.add(frame) if frame.__hash__ else None
                yield frame

        Counted.__hash__ = object.__hash__
        list(self.session.map(frames()))
        for _ in range(3 * self.session.depth):
            self.session.run(self.image)
        gc.collect()
        self.assertLess(len(alive), 2 * self.session.depth + 8)

    def test_large_frames_are_not_copied(self):
        """A frame of 32 MB goes in, eight numbers come out: the process never needs 32 MB more for it."""
        shape = (1, 8, 1024, 1024)
        plan = millrace.plan(millrace.Model(largest_of_relu(shape)), measure=0)
        frames = [numpy.random.default_rng(seed).standard_normal(shape, numpy.float32) for seed in range(4)]
        self.assertEqual(frames[0].nbytes, 32 << 20)
        with plan.session() as session:
            for frame in frames * 2:  # everything that is made once is there after it
                session.run(frame)
            before = peak_kib_from_now()
            found = [out["y"] for out in session.map(frames * 4)]
            for frame in frames * 4:
                session.submit(frame)
                found.append(session.next()["y"])
            grown = grown_kib_since(before)
        self.assertLess(grown, 8 << 10)
        for frame, out in zip(frames * 8, found):
            numpy.testing.assert_array_equal(out.ravel(), numpy.maximum(frame, 0).max(axis=(0, 2, 3)))
            self.assertEqual(millrace._core.address_seen(frame), frame.ctypes.data)

    def test_large_results_are_not_copied_twice(self):
        shape = (1, 8, 1024, 1024)
        plan = millrace.plan(millrace.Model(largest_of_relu(shape, largest=False)), measure=0)
        frame = numpy.random.default_rng(1).standard_normal(shape, numpy.float32)
        with plan.session() as session:
            numpy.testing.assert_array_equal(session.run(frame)["y"], numpy.maximum(frame, 0))
            before = peak_kib_from_now()
            out = session.run(frame)["y"]
            self.assertLess(grown_kib_since(before), 40 << 10)
            self.assertFalse(out.flags.owndata)
            self.assertEqual(millrace._core.address_seen(out), out.ctypes.data)


def peak_kib_from_now():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    return peak_kib()


def grown_kib_since(before):
    """Without the four bytes that ThreadSanitizer keeps beside each one."""
    return (peak_kib() - before) // (5 if SANITIZER == "thread" else 1)


def peak_kib():
    with open("/proc/self/status") as file:
        return int(re.search(r"VmHWM:\s*(\d+)", file.read()).group(1))


def largest_of_relu(shape, largest=True):
    """An ONNX file of one layer or two, written by hand: protobuf's fields one after the other."""
    def field(number, data):
        data = data.encode() if isinstance(data, str) else data
        if isinstance(data, int):
            return varint(number << 3) + varint(data)
        return varint(number << 3 | 2) + varint(len(data)) + data

    def varint(value):
        out = b""
        while value > 127:
            out, value = out + bytes([value & 127 | 128]), value >> 7
        return out + bytes([value])

    def value(name, shape):
        dims = b"".join(field(1, field(1, size)) for size in shape)
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))

    def node(source, target, operation):
        return field(1, field(1, source) + field(2, target) + field(3, operation) + field(4, operation))

    nodes = node("x", "r", "Relu") + node("r", "y", "GlobalMaxPool") if largest else node("x", "y", "Relu")
    output = (*shape[:2], 1, 1) if largest else shape
    graph = nodes + field(2, "one") + field(11, value("x", shape)) + field(12, value("y", output))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


if __name__ == "__main__":
    unittest.main()
