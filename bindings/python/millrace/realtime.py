"""Task systems: does every deadline hold?"""
from typing import List, NamedTuple, Optional, Sequence

from . import _core


class Response(NamedTuple):
    """A flow. bound: no response is longer, None: there is no bound; best: none is shorter."""
    flow: str
    bound: Optional[int]
    best: int
    deadline: Optional[int]
    holds: bool


class TaskResponse(NamedTuple):
    """A task, from its activation to its end. None: there is no bound."""
    task: str
    bound: Optional[int]


class TaskSystem:
    """Resources, flows and tasks. Times are whole numbers of any unit.

    TaskSystem({"core": "fixed_priority"}): policies by resource. They are fixed_priority, fixed_priority_nonpreemptive,
    fifo, fifo_by_kernel, edf, edf_nonpreemptive.
    """

    def __init__(self, resources=None):
        self._core = _core.TaskSystem()
        self._resources, self._flows, self._tasks = {}, {}, {}
        for name, policy in (resources or {}).items():
            self.resource(name, policy)

    def resource(self, name: str, policy: str = "fixed_priority") -> "TaskSystem":
        self._resources[name] = self._core.add_resource(name, policy)
        return self

    def flow(self, name: str, period: int, *, deadline: Optional[int] = None, jitter: int = 0,
             min_distance: int = 0, sporadic: bool = False) -> "TaskSystem":
        """Tasks that one event activates: every `period`, late by up to `jitter`."""
        self._flows[name] = self._core.add_flow(name, (period, jitter, min_distance, sporadic), deadline)
        return self

    def task(self, flow: str, name: str, resource: str, worst: int, *, best: Optional[int] = None,
             priority: int = 0, after: Sequence[str] = ()) -> "TaskSystem":
        """worst, best: execution times; a higher priority is more urgent; after: tasks of the flow that end first."""
        for kind, key, known in [("flow", flow, self._flows), ("resource", resource, self._resources)] + [
                ("task", each, self._tasks) for each in after]:
            if key not in known:
                raise _core.Error(f"task '{name}': there is no {kind} '{key}', expected one of {', '.join(known)}")
        given = (name, self._resources[resource], worst, worst if best is None else best, priority)
        self._tasks[name] = self._core.add_task(self._flows[flow], given, [self._tasks[each] for each in after])
        return self

    def response_times(self) -> List[Response]:
        """The bound of each flow, from its activation to the end of its last task."""
        return [Response(*row) for row in self._core.bounds()[0]]

    def task_response_times(self) -> List[TaskResponse]:
        return [TaskResponse(*row) for row in self._core.bounds()[1]]

    def is_schedulable(self) -> bool:
        return self._core.bounds()[2]
