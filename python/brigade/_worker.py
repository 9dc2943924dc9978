"""This process as a replica of a stage: programs in Python that a graph runs by `exec:`."""

import json

from . import _brigade

_KINDS = ("producer", "transform", "consumer")


def attach():
    """Makes this process, which `exec:` has started, the replica that it stands for. Once.

        import brigade, numpy

        with brigade.attach() as worker:
            for task in worker:                         # ends with the run
                image = numpy.asarray(task.input("image"))
                numpy.asarray(task.output("flipped"))[...] = image[:, ::-1]
                task.finish()                           # or task.drop(), task.error("why")

    What the program needs it loads before the loop: the run starts when every replica has asked for
    its first task. It is in a process group of its own, so that Ctrl-C reaches the run alone, and
    it may be killed and started again at any time.
    """
    return Worker(_brigade.attach())


class Worker:
    """A replica, of attach(). One thread asks for tasks; report(), log() and fail() are any's."""

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
        """The next Task; None where nothing is left. The one before it is settled."""
        return self._raw.next()

    def __iter__(self):
        return iter(self._raw.next, None)

    def shared(self, name):
        """The SharedTensor of that name, one that the stage's `shared:` lists; under `own_part` the
        part of this replica."""
        if name not in self._shared:
            self._shared[name] = self._raw.shared(name)
        return self._shared[name]

    def report(self, name, value):
        """A number of the stage, shown while it runs and in the summary; the last one wins."""
        self._raw.report(name, value)

    def log(self, line):
        """For the user, with the stage's name. What is printed is shown, too."""
        self._raw.log(line)

    def fail(self, why):
        """This program cannot go on: the run ends for this reason. The program exits then."""
        self._raw.fail(why)

    def close(self):
        """After the last task; a replica that ends earlier counts as one that died."""
        self._raw.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
