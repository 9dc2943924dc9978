"""A replica of a Python stage: `python -m brigade._replica FILE_OR_MODULE NAME`.

With `--describe DESCRIPTOR QUESTION` behind them it answers a graph that is checked: JSON for JSON.
"""

import collections
import gc
import json
import os
import signal
import sys

from . import _cast, _describe
from ._drops import may_drop
from ._errors import OF_USERS, RunError
from ._stage import DROP
from ._worker import attach


def _numpy():
    try:
        import numpy
    except ImportError as error:
        raise _describe.Mistake("call", f"Python stages need NumPy, which {sys.executable} does "
                                f"not have ({error})", "pip install numpy") from None
    return numpy


class _Outputs:
    """`out`: the output tensors of a task. `out.x[...] = values` writes in place; `out.x = values`
    copies, and gives a ragged tensor the shape of the values."""

    __slots__ = ("_task", "_stage")

    def __init__(self, task, stage):
        object.__setattr__(self, "_task", task)
        object.__setattr__(self, "_stage", stage)

    def __getitem__(self, name):
        return self._stage.numpy.asarray(self._task.output(name))

    def __setitem__(self, name, value):
        self._stage.copy(self._task, name, value)

    def __getattr__(self, name):
        try:
            return self[name]
        except ValueError as error:
            raise AttributeError(str(error)) from None

    def __setattr__(self, name, value):
        self[name] = value

    def resize(self, name, shape):
        """Sets the shape of a ragged tensor for this sample; returns the tensor."""
        self._task.resize(name, shape)
        return self[name]


class _Generators:
    """`rng` of a batch: one generator per sample."""

    __slots__ = ("_task", "_stage")

    def __init__(self, task, stage):
        self._task, self._stage = task, stage

    def __len__(self):
        return self._task.samples

    def __getitem__(self, i):
        return self._stage.generator(self._task, range(self._task.samples)[i])


class _Sample(collections.namedtuple("Sample", "number epoch index id")):
    """`sample`: its identity and its seed."""

    def seed(self):
        """64 bits, for generators of any library: the same for any number of replicas and after any
        restart, and the same as `in.random().next64()` in C++."""
        return self._task.random(self._i)[0]


def _sample_of(task, i):
    sample = _Sample(*task.sample(i))
    sample._task, sample._i = task, i
    return sample


def _without_shapes(names):
    """The names, without tensors that hold the shapes of ragged tensors."""
    return [one for one in names if not (one.endswith(".shape") and one[:-6] in names)]


class Replica:
    """Calls a function, or an object of a class, with tasks."""

    def __init__(self, worker, module, name):
        self.worker, self.numpy = worker, _numpy()
        self.signature = _describe.Signature(_describe.load(module, name), name)
        self.name = name
        self.drops = may_drop(self.signature.target)
        self.inputs = {}  # source -> [(argument, tensor)], known with its first task
        special = self.signature.special()
        self.wants_out, self.wants_rng = "out" in special, "rng" in special
        self.wants_sample, self.wants_worker = "sample" in special, "worker" in special
        self.shapes = set()  # tensors that hold those of ragged ones
        self.function, self.arguments = self.signature.target, {}
        if self.signature.is_class:
            self.function = self._make()

    def _make(self):
        params = {key: value for key, value in self.worker.params.items()
                  if key not in _describe.OWN_PARAMS}
        if any(one.name == "worker" for one in self.signature.made):
            params["worker"] = self.worker
        return self.signature.target(**params)

    def _begin(self, task):
        tensors = _without_shapes(task.inputs)
        self.shapes.update(set(task.inputs) - set(tensors))
        taken, self.arguments, _ = self.signature.split(self.worker.params, tensors)
        self.outputs = _without_shapes(task.outputs)
        if self.wants_worker:
            self.arguments["worker"] = self.worker
        self.inputs[task.source] = list(taken.items())

    def serve(self, task):
        """Processes a task and settles it."""
        try:
            dropped = self._call(task)
            if task.views and (gc.collect(), task.views)[1]:
                raise RuntimeError(f"{self.name} keeps a view of a tensor of this sample, but "
                                   "its memory is reused for another sample; keep a copy")
        except OF_USERS as error:
            why = _describe.one_line(error, self.signature.file)
            error.__traceback__ = error.__context__ = error.__cause__ = None
            del error
            task.error(why)
            return
        task.drop() if dropped else task.finish()

    def _call(self, task):
        """True if the sample is dropped."""
        if task.samples == 0:
            return False
        if task.source not in self.inputs:
            self._begin(task)
        arguments = {argument: self._input(task, name)
                     for argument, name in self.inputs[task.source]}
        if self.wants_rng:
            arguments["rng"] = (_Generators(task, self) if self.worker.batched
                                else self.generator(task, 0))
        if self.wants_sample:
            arguments["sample"] = ([_sample_of(task, i) for i in range(task.samples)]
                                   if self.worker.batched else _sample_of(task, 0))
        if self.wants_out:
            arguments["out"] = _Outputs(task, self)
        result = self.function(**arguments, **self.arguments)
        if result is DROP and self.worker.kind == "consumer":
            raise TypeError(f"{self.name} drops a sample, but it is a consumer; return nothing "
                            "instead")
        if result is DROP:
            self._tell_of_drop()
            return True
        self._write(task, result)
        return False

    def _tell_of_drop(self):
        """Warns that the length of a loader may be too large."""
        if self.drops:
            return
        self.drops = True  # said once
        print(f"warning: {self.name} dropped a sample, but its file does not name DROP, so len() "
              "of a loader is too large; write @brigade.stage(drops=True)", file=sys.stderr)

    def generator(self, task, i):
        random = self.numpy.random
        return random.Generator(random.Philox(key=task.random(i, 2)))

    def _input(self, task, name):
        view = self.numpy.asarray(task.input(name))
        if name + ".shape" not in self.shapes:
            return view
        shapes = self.numpy.asarray(task.input(name + ".shape"))
        return [view[(i, *map(slice, shapes[i]))] for i in range(task.samples)]

    def _write(self, task, result):
        names = self.outputs
        if result is None:
            if names and not self.wants_out:
                raise TypeError(f"{self.name} returned nothing, expected {', '.join(names)}; "
                                "return it, or take `out` and write to it")
        elif isinstance(result, dict):
            missing = [] if self.wants_out else [name for name in names if name not in result]
            if missing:
                raise TypeError(f"{self.name} returned no {', '.join(missing)}, expected "
                                f"{', '.join(names)} in the dict")
            for name, value in result.items():
                self.copy(task, name, value)
        elif len(names) == 1:
            self.copy(task, names[0], result)
        elif isinstance(result, (tuple, list)) and len(result) == len(names):
            for name, value in zip(names, result):
                self.copy(task, name, value)
        else:
            raise TypeError(f"{self.name} returned a {type(result).__name__}, expected "
                            f"{', '.join(names) or 'nothing'}"
                            + (", as a tuple or a dict" if names else ""))

    def copy(self, task, name, value):
        """Copies into an output of this shape; a ragged one takes the shape."""
        tensor = task.output(name)
        if tensor.ragged and self.worker.batched:
            return self._copy_each(task, name, value)
        made = self._array(value, tensor.dtype)
        if tensor.ragged:
            task.resize(name, made.shape)
            tensor = task.output(name)
        view = self.numpy.asarray(tensor)
        if made.shape != view.shape:
            raise ValueError(f"{name} is {tensor.dtype}{list(view.shape)}, found "
                             f"{made.dtype}{list(made.shape)}")
        _cast.copy_to(view, made, name, self.numpy)

    def _copy_each(self, task, name, values):
        view = self.numpy.asarray(task.output(name))
        shapes = self.numpy.asarray(task.output(name + ".shape"))
        if len(values) != task.samples:
            raise ValueError(f"{name} is ragged: expected a list of {task.samples}, found "
                             f"{len(values)}")
        for i, value in enumerate(values):
            made = self._array(value, task.output(name).dtype)
            if made.ndim + 1 != view.ndim or any(a > b for a, b in zip(made.shape, view.shape[1:])):
                raise ValueError(f"{name} has shape {list(view.shape[1:])} at most, found "
                                 f"{list(made.shape)} in sample {i}")
            part = view[(i, *map(slice, made.shape))]
            _cast.copy_to(part, made, name, self.numpy)
            shapes[i] = made.shape

    def _array(self, value, dtype):
        if dtype == "bfloat16" and hasattr(value, "detach"):  # NumPy has its 16 bits
            import torch
            value = value.detach().to("cpu", torch.bfloat16).view(torch.int16)
        elif hasattr(value, "detach"):
            value = value.detach().cpu()
        made = self.numpy.asarray(value)
        if dtype == "bfloat16" and made.dtype.kind == "f":
            raise TypeError("expected bfloat16, which NumPy does not support, found "
                            f"{made.dtype}; return a torch tensor, or the 16 bits as int16")
        return made


def run(module, name):
    worker = attach()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a death like any other
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)
    try:
        replica = Replica(worker, module, name)
    except _describe.Mistake as mistake:
        worker.fail(mistake.message)
        return 1
    except OF_USERS as error:
        worker.fail(_describe.one_line(error, module))
        return 1
    try:
        with worker:
            for task in worker:
                replica.serve(task)
    except RunError:  # the supervisor has the reason
        return 1
    return 0


def answer(module, name, descriptor, question):
    answers = os.fdopen(os.dup(int(descriptor)), "w", encoding="utf-8")  # no child inherits it
    os.close(int(descriptor))
    try:
        _numpy()
        said = _describe.describe(module, name, json.loads(question))
    except _describe.Mistake as mistake:
        said = {"errors": [{"at": mistake.at, "message": mistake.message, "help": mistake.help}]}
    answers.write(json.dumps(said))
    answers.flush()
    os._exit(0)  # whatever threads the user's file has started


if __name__ == "__main__":
    if "--describe" in sys.argv[3:]:
        answer(*sys.argv[1:3], *sys.argv[4:])
    sys.exit(run(*sys.argv[1:]))
