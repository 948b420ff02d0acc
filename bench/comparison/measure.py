"""One network: everybody is made ready, then all take turns, slice by slice."""
import sys

from . import answers, commands, contenders, machine
from .failed import Failed


def progress(text):
    print(text, file=sys.stderr, flush=True)


class Comparison:
    def __init__(self, network, options, unavailable):
        """unavailable: peer to why it could not be installed."""
        self._network, self._options, self._unavailable = network, options, unavailable
        self._contenders = contenders.all_of(options)
        self._workers, self._answers = {}, {}  # by contender's place in the list
        self._shares = {"idle": [], "others": []}
        self.versions = {}

    def run(self):
        try:
            self._plan()
            self._open()
            self._compare()
            for repetition in range(self._options.repetitions):
                progress(f"{self._network.name}: repetition {repetition + 1} of "
                         f"{self._options.repetitions}")
                for place in list(self._workers):
                    self._slice(place)
        finally:
            for worker in self._workers.values():
                worker.close()
        return {"name": self._network.name, "shares": self._shares,
                "contenders": [contender.describe() for contender in self._contenders]}

    def _plan(self):
        """Before anything is opened: planning measures."""
        if not self._options.reuse_plans:
            commands.forget_profiles(self._network, self._options)
        failed = {}
        for contender in self._contenders:
            if contender.peer not in commands.WITH_PLANS:
                continue
            plan = commands.plan_path(self._network, contender, self._options)
            if plan not in failed:
                progress(f"{self._network.name}: {contender.text}, {contender.precision}")
                failed[plan] = ""
                try:
                    commands.make_plan(self._network, contender, self._options)
                except Failed as reason:
                    failed[plan] = str(reason)
            contender.missing = failed[plan]

    def _open(self):
        for place, contender in enumerate(self._contenders):
            contender.missing = contender.missing or self._unavailable.get(contender.peer, "")
            if contender.missing:
                continue
            progress(f"{self._network.name}: {contenders.NAMES[contender.peer]} "
                     f"{contender.precision}, {contender.text}, batch {contender.batch}")
            try:
                worker, answer = commands.open_contender(contender, self._network, self._options)
                self._workers[place], self._answers[place] = worker, answer
                if "version" in worker.opened:
                    self.versions[contender.peer] = worker.opened["version"]
            except Failed as reason:
                contender.missing = str(reason)

    def _compare(self):
        """With ONNX Runtime's first answers, which are float32."""
        reference = next((self._answers[place] for place, contender in enumerate(self._contenders)
                          if contender.peer == "onnxruntime" and place in self._answers), None)
        if reference is None:
            return
        for place, answer in self._answers.items():
            try:
                self._contenders[place].answers = answers.compare(answer, reference)
            except ValueError as reason:
                self._drop(place, str(reason))

    def _slice(self, place):
        worker, cores = self._workers[place], self._options.cores
        rest = [other for other in self._workers.values() if other is not worker]
        before = self._worked(worker, rest)
        try:
            piece = worker.run(self._options.duration)
        except Failed as reason:
            self._drop(place, str(reason))
            return
        own, idle, busy, now = (b - a for a, b in zip(before, self._worked(worker, rest)))
        self._shares["idle"].append(idle / (now * len(cores)))
        self._shares["others"].append(max(0.0, busy - own) / (now * len(cores)))
        self._contenders[place].slices.append(piece)

    def _worked(self, worker, rest):
        return (machine.process_seconds(worker.pid),
                sum(machine.process_seconds(other.pid) for other in rest),
                machine.busy_seconds(self._options.cores), machine.now())

    def _drop(self, place, reason):
        self._contenders[place].missing = reason
        self._contenders[place].slices.clear()
        self._workers.pop(place).close()
