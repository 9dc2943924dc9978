"""This process as a replica of a stage, for Python programs that a graph runs by `exec:`."""

import json

from . import _brigade

_KINDS = ("producer", "transform", "consumer")


def attach():
    """Attaches this process, started by `exec:`, as a replica of its stage. Call it once.

        import brigade, numpy

        with brigade.attach() as worker:
            for task in worker:                         # ends with the run
                image = numpy.asarray(task.input("image"))
                numpy.asarray(task.output("flipped"))[...] = image[:, ::-1]
                task.finish()                           # or task.drop(), task.error("why")

    Load everything before the loop: a replica counts as ready when it asks for its first task. The
    run starts when all replicas of producers, caches and consumers are ready, and one replica of
    each transform. The process has its own process group, so that Ctrl-C reaches only the run, and
    it may be killed and restarted at any time.
    """
    return Worker(_brigade.attach())


class Worker:
    """A replica, from attach(). One thread asks for tasks; report(), log() and fail() are for any
    thread."""

    def __init__(self, raw):
        self._raw, self._shared = raw, {}
        about = raw.describe()
        self.stage = about["stage"]  #: its name in the YAML
        self.params = json.loads(about["params"])  #: of the YAML, as JSON has it
        self.kind = _KINDS[about["kind"]]  #: "producer", "transform" or "consumer"
        self.device = about["device"]
        self.replica, self.replicas = about["replica"], about["replicas"]
        self.threads = about["threads"]  #: that libraries may use here
        self.batched = about["batched"]  #: tasks are batches, whose dimension tensors have first
        self.samples_max = about["samples_max"]  #: in one task
        self.seed = about["seed"]  #: of the graph

    def next(self):
        """Waits for the next Task; None at the end. The previous one must be settled."""
        return self._raw.next()

    def __iter__(self):
        return iter(self._raw.next, None)

    def shared(self, name):
        """The SharedTensor `name`, from the stage's `shared:`; with `own_part`, the part of
        this replica."""
        if name not in self._shared:
            self._shared[name] = self._raw.shared(name)
        return self._shared[name]

    def report(self, name, value):
        """Reports a number, shown during the run and in the summary; the last value wins."""
        self._raw.report(name, value)

    def log(self, line):
        """Shows a line to the user, with the stage's name. Printed output is also shown."""
        self._raw.log(line)

    def fail(self, why):
        """Ends the run with this reason. The program must exit then."""
        self._raw.fail(why)

    def close(self):
        """Detaches after the last task; a replica that ends earlier counts as crashed."""
        self._raw.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
