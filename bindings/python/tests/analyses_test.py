"""The figures of examples/dataflow and examples/realtime, which C++ prints too."""
import unittest
from fractions import Fraction

import millrace


class Dataflow(unittest.TestCase):
    def graph(self):
        return millrace.dataflow.Graph({"source": 1, "filter": [2, 3], "sink": 2},
                                       [("source", "filter", 1, [2, 1]), ("filter", "sink", [1, 1], 1)])

    def test_the_converter(self):
        graph = self.graph()
        self.assertEqual(graph.repetitions(), {"source": 3, "filter": 1, "sink": 2})
        self.assertTrue(graph.is_live())
        found = graph.throughput()
        self.assertEqual(found.period, Fraction(5))
        self.assertEqual({actor for actor, _ in found.critical}, {"filter"})
        sizes = [(point.total, point.period) for point in graph.buffers()]
        self.assertEqual(sizes[-1][1], Fraction(5))
        self.assertEqual(sizes, sorted(sizes))
        self.assertIn("digraph", graph.dot())

    def test_a_deadlock_is_explained(self):
        graph = millrace.dataflow.Graph({"a": 1, "b": 1}, [("a", "b"), ("b", "a")])
        self.assertFalse(graph.is_live())
        with self.assertRaisesRegex(millrace.Error, "a.*b"):
            graph.throughput()

    def test_wrong_graphs(self):
        with self.assertRaisesRegex(millrace.Error, "'c' is no actor"):
            millrace.dataflow.Graph({"a": 1}, [("a", "c")])
        with self.assertRaisesRegex(millrace.Error, "a-a"):
            millrace.dataflow.Graph({"a": [1, 1]}, [("a", "a", [1, 1, 1], 1)])


class Realtime(unittest.TestCase):
    def test_the_camera_and_the_control_loop(self):
        system = millrace.realtime.TaskSystem({"core": "fixed_priority", "accelerator": "fifo"})
        system.flow("camera", 100, jitter=10, deadline=100)
        system.task("camera", "grab", "core", 10, best=8, priority=2)
        system.task("camera", "detect", "accelerator", 40, best=30, after=["grab"])
        system.task("camera", "draw", "core", 15, priority=1, after=["detect"])
        system.flow("control", 25, deadline=25)
        system.task("control", "steer", "core", 5, priority=3)
        camera, control = system.response_times()
        # By hand: grab waits for steer once, draw too.
        self.assertEqual((control.bound, control.holds), (5, True))
        self.assertEqual(camera.bound, 75)
        self.assertTrue(system.is_schedulable())
        self.assertEqual([row.task for row in system.task_response_times()], ["grab", "detect", "draw", "steer"])

    def test_wrong_systems(self):
        with self.assertRaisesRegex(millrace.Error, "expected one of fixed_priority"):
            millrace.realtime.TaskSystem({"core": "fair"})
        with self.assertRaisesRegex(millrace.Error, "there is no resource 'core'"):
            millrace.realtime.TaskSystem().flow("f", 10).task("f", "t", "core", 1)


if __name__ == "__main__":
    unittest.main()
