"""Sessions: order, memory, threads, forks, Ctrl-C, and what onnxruntime's programs call."""
import gc
import os
import sys
import threading
import unittest

import numpy

import millrace
from support import (DIGITS, code_of_child, digits_model, digits_plan, images, labels, resident_kib,
                     seconds_to_end)

INPUT = digits_model().inputs[0].name
OUTPUT = digits_model().outputs[0].name


def recognised(outputs):
    return int(outputs[OUTPUT].argmax())


class Sessions(unittest.TestCase):
    def test_map_recognises_the_digits_in_order(self):
        with digits_plan().session() as session:
            found = [recognised(outputs) for outputs in session.map(images(100))]
        self.assertGreaterEqual(sum(a == b for a, b in zip(found, labels())), 97)

    def test_submit_and_next_are_map(self):
        with digits_plan().session() as session:
            expected = [outputs[OUTPUT].tobytes() for outputs in session.map(images(20))]
            found = []
            for image in images(20):
                session.submit({INPUT: image})
                if session.in_flight == session.depth:
                    found.append(session.next())
            session.finish()
            while (outputs := session.next()) is not None:
                found.append(outputs)
        self.assertEqual([outputs.frame for outputs in found], list(range(20, 40)))
        self.assertEqual([outputs[OUTPUT].tobytes() for outputs in found], expected)
        self.assertGreater(found[0].latency, 0)

    def test_outputs_keep_their_memory_and_may_be_written_to(self):
        with digits_plan().session() as session:
            outputs = list(session.map(images(10)))
            before = [out[OUTPUT].copy() for out in outputs]
            list(session.map(images(50)))
        gc.collect()
        for out, copy in zip(outputs, before):
            numpy.testing.assert_array_equal(out[OUTPUT], copy)
        outputs[0][OUTPUT][:] = 0

    def test_a_loop_that_is_left_leaves_nothing_behind(self):
        with digits_plan().session() as session:
            for outputs in session.map(images(50)):
                break
            first = outputs[OUTPUT]
            del outputs
            gc.collect()
            again = next(session.map(images(1)))
            numpy.testing.assert_array_equal(again[OUTPUT], first)
            self.assertEqual(session.run(images(1)[0])[OUTPUT].tobytes(), first.tobytes())

    def test_an_iterator_that_raises_passes_it_on(self):
        def frames():
            yield images(1)[0]
            raise ZeroDivisionError("of the caller")

        with digits_plan().session() as session:
            with self.assertRaisesRegex(ZeroDivisionError, "of the caller"):
                list(session.map(frames()))
            self.assertEqual(len(list(session.map(images(3)))), 3)

    def test_two_threads_one_submits_one_takes(self):
        found = []
        with digits_plan().session() as session:
            def take():
                while (outputs := session.next()) is not None:
                    found.append(outputs.frame)

            taker = threading.Thread(target=take)
            taker.start()
            for image in images(300):
                session.submit(image)
            session.finish()
            taker.join(20)
        self.assertEqual(found, list(range(300)))

    def test_run_from_many_threads(self):
        expected = [recognised(out) for out in digits_plan().session().map(images(40))]
        found = [None] * 40
        with digits_plan().session() as session:
            def work(first):
                for i in range(first, 40, 4):
                    found[i] = recognised(session.run(images(40)[i]))

            threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(30)
        self.assertEqual(found, expected)

    def test_map_has_the_session_to_itself(self):
        with digits_plan().session() as session:
            loop = session.map(images(10))
            next(loop)
            for call in (lambda: session.next(), lambda: session.submit(images(1)[0]),
                         lambda: session.map(images(1)), lambda: session.run(images(1)[0])):
                with self.assertRaisesRegex(millrace.Error, "is at work for map"):
                    call()
            self.assertEqual(len(list(loop)), 9)

    def test_after_close(self):
        session = digits_plan().session()
        loop = session.map(images(10))
        next(loop)
        session.close()
        session.close()
        for call in (lambda: next(loop), lambda: session.submit(images(1)[0]), lambda: session.next()):
            with self.assertRaisesRegex(millrace.Error, "is closed"):
                call()

    def test_close_ends_a_wait_of_another_thread(self):
        session = digits_plan().session()
        ended = []
        waiter = threading.Thread(target=lambda: ended.append(session.next()))
        waiter.start()
        session.close()
        waiter.join(10)
        self.assertEqual(ended, [None])

    def test_next_with_a_timeout(self):
        with digits_plan().session() as session:
            with self.assertRaises(TimeoutError):
                session.next(timeout=0.1)
            session.submit(images(1)[0])
            self.assertIsNotNone(session.next(timeout=10))

    def test_a_fork_needs_a_session_of_its_own(self):
        session = digits_plan().session()
        session.run(images(1)[0])

        def in_child():
            with self.assertRaisesRegex(millrace.Error, "was started before this process was forked"):
                session.run(images(1)[0])
            session.close()
            with digits_plan().session() as own:
                self.assertEqual(len(list(own.map(images(5)))), 5)

        self.assertEqual(code_of_child(in_child), 0)
        session.run(images(1)[0])
        session.close()

    def test_ctrl_c_ends_a_wait_and_the_session_goes_on(self):
        code = f"""
    plan = millrace.plan({DIGITS!r}, measure=0)
    s = plan.session()
    try:
        s.next()
    except KeyboardInterrupt:
        import numpy
        assert len(list(s.map([numpy.zeros((1, 1, 8, 8), numpy.float32)] * 5))) == 5
        raise"""
        self.assertLess(seconds_to_end(code.strip(), after=3), 1.0)

    def test_ctrl_c_ends_each_wait_within_a_second(self):
        start = f"""
    import numpy
    frame = numpy.zeros((1, 1, 8, 8), numpy.float32)
    s = millrace.plan({DIGITS!r}, measure=0).session()
    """
        for name, code in {
                "map": "for out in s.map(frame for _ in iter(int, 1)): pass",
                "submit, all places taken": "while True: s.submit(frame)",
                "run": "while True: s.run(frame)",
                "new sessions": "while True: millrace.plan(millrace.Model('squeezenet1_1'), measure=0).session()",
                "a model": "while True: millrace.Model('resnet18')"}.items():
            with self.subTest(name):
                self.assertLess(seconds_to_end(start.strip() + "\n    " + code, after=4), 1.0)

    def test_ten_thousand_sessions_leave_nothing(self):
        image = images(1)[0]

        def some(count):
            for _ in range(count):
                session = digits_plan().session()
                session.run(image)
                session.close()

        # A leak grows in every quarter; an arena that the allocator makes for busy threads comes once.
        some(500)
        count, growth = int(os.environ.get("MILLRACE_SESSIONS", "1000")) // 4, []
        for _ in range(4):
            gc.collect()
            before = resident_kib()
            some(count)
            gc.collect()
            growth.append(resident_kib() - before)
        print(f"4 times {count} sessions: {growth} KiB", file=sys.stderr)
        self.assertLess(sorted(growth)[1], 256 + count // 10)

    def test_many_small_frames_in_order_in_flat_memory(self):
        count = int(os.environ.get("MILLRACE_FRAMES", "50000"))
        frames = images(100)
        with digits_plan().session() as session:
            reference = [out[OUTPUT].tobytes() for out in session.map(frames)]
            begin, number = None, 0
            for number, out in enumerate(session.map(frames[i % 100] for i in range(count))):
                if out[OUTPUT].tobytes() != reference[number % 100] or out.frame != number + 100:
                    self.fail(f"frame {number} is another one")
                if number == count // 10:
                    begin = resident_kib()
            grown = resident_kib() - begin
        self.assertEqual(number, count - 1)
        print(f"{count} frames: {grown} KiB", file=sys.stderr)
        self.assertLess(grown, 4096)


class OfOnnxRuntime(unittest.TestCase):
    def test_the_common_calls(self):
        session = millrace.InferenceSession(DIGITS, providers=["CPUExecutionProvider"], measure=0)
        self.assertEqual(session.get_inputs()[0].name, INPUT)
        self.assertEqual(session.get_inputs()[0].shape, [1, 1, 8, 8])
        self.assertEqual(session.get_inputs()[0].type, "tensor(float)")
        self.assertEqual(session.get_outputs()[0].name, OUTPUT)
        everything = session.run(None, {INPUT: images(1)[0]})
        by_name = session.run([OUTPUT], {INPUT: images(1)[0]})
        numpy.testing.assert_array_equal(everything[0], by_name[0])
        with self.assertRaisesRegex(millrace.Error, "output 'x': is none of the model"):
            session.run(["x"], {INPUT: images(1)[0]})

    def test_results_are_those_of_onnxruntime(self):
        try:
            import onnxruntime
        except ImportError:
            self.skipTest("onnxruntime is not installed")
        theirs = onnxruntime.InferenceSession(DIGITS, providers=["CPUExecutionProvider"])
        ours = millrace.InferenceSession(DIGITS, measure=0)
        for image in images(20):
            expected = theirs.run(None, {INPUT: image})[0]
            numpy.testing.assert_allclose(ours.run(None, {INPUT: image})[0], expected, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    unittest.main()
