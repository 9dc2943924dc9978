#!/usr/bin/python3
"""A stage of the tests of `exec:`: Python's own ctypes, and no other library.

    exec_stage.py BEHAVIOUR

BRIGADE_LIBRARY, which the run sets, is the library. The behaviours: of a transform (`double`, ...),
of a source (`count`), of a consumer (`sum`), and what such a program may do wrong.
"""

import ctypes
import json
import os
import signal
import sys

END = 1


class Info(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("stage", ctypes.c_char_p),
                ("params", ctypes.c_char_p), ("device", ctypes.c_char_p),
                ("kind", ctypes.c_int32), ("replica", ctypes.c_int32),
                ("replicas", ctypes.c_int32), ("threads", ctypes.c_int32),
                ("batched", ctypes.c_int32), ("samples_max", ctypes.c_uint64),
                ("seed", ctypes.c_uint64)]


class Task(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("samples", ctypes.c_uint64),
                ("inputs", ctypes.c_uint64), ("outputs", ctypes.c_uint64),
                ("source", ctypes.c_char_p)]


class Sample(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("number", ctypes.c_uint64),
                ("epoch", ctypes.c_uint64), ("index", ctypes.c_uint64), ("id", ctypes.c_uint64)]


class Tensor(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("data", ctypes.c_void_p),
                ("bytes", ctypes.c_uint64), ("dtype", ctypes.c_int32),
                ("element_bytes", ctypes.c_uint32), ("flags", ctypes.c_uint32),
                ("rank", ctypes.c_int32), ("shape", ctypes.c_int64 * 8),
                ("strides", ctypes.c_int64 * 8)]


class Worker:
    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        self.library.brigade_last_error.restype = ctypes.c_char_p
        self.handle = ctypes.c_void_p()
        self.check(self.library.brigade_worker_attach(ctypes.byref(self.handle)))
        self.info = self.call("describe", Info())
        self.params = json.loads(self.info.params)

    def check(self, status):
        if status < 0:
            raise RuntimeError(self.library.brigade_last_error().decode())
        return status

    def do(self, name, *arguments):
        return self.check(self.library["brigade_worker_" + name](self.handle, *arguments))

    def call(self, name, struct, *arguments):
        struct.size = ctypes.sizeof(struct)
        self.do(name, *arguments, ctypes.byref(struct))
        return struct

    def tasks(self):
        task = Task(size=ctypes.sizeof(Task))
        while self.do("next", ctypes.byref(task)) != END:
            yield task

    def find(self, side, name):
        """A list that is the tensor's memory."""
        tensor = self.call(f"find_{side}", Tensor(), name.encode())
        kind = {5: ctypes.c_int64, 8: ctypes.c_float}[tensor.dtype]
        count = tensor.bytes // tensor.element_bytes
        return (kind * count).from_address(tensor.data)

    def sample(self, i=0):
        return self.call("sample", Sample(), ctypes.c_uint64(i))

    def random(self, i=0):
        word = ctypes.c_uint64()
        self.do("random", ctypes.c_uint64(i), ctypes.byref(word), ctypes.c_size_t(1))
        return word.value

    def close(self):
        self.library.brigade_worker_close(self.handle)


def double(worker, task, by=2):
    read, written = worker.find("input", "data"), worker.find("output", "twice")
    for i, value in enumerate(read):
        written[i] = by * value
    worker.do("finish")


def draw(worker, task):
    """Of each sample of the batch: its id, and what is random about it."""
    written = worker.find("output", "drawn")
    for i in range(task.samples):
        written[2 * i] = worker.sample(i).id
        written[2 * i + 1] = worker.random(i) >> 1
    worker.do("finish")


def count(worker, task):
    sample = worker.sample()
    worker.find("output", "value")[0] = sample.id * worker.params["factor"]
    worker.do("finish")


def odd(worker, task):
    if worker.sample().id % 2 == 0:
        worker.do("drop")
    else:
        double(worker, task)


def fail(worker, task):
    if worker.sample().id in worker.params["at"]:
        worker.do("error", b"this one is bad\nsecond line")
    else:
        double(worker, task)


def die(worker, task):
    if worker.sample().id in worker.params["at"]:
        os.kill(os.getpid(), signal.SIGSEGV)
    double(worker, task)


def kill_once(worker, task):
    """Each of the listed samples ends a worker once: the file says that it has."""
    sample = worker.sample()
    mark = os.path.join(worker.params["marks"], f"{sample.epoch}.{sample.id}")
    if sample.id in worker.params["at"] and not os.path.exists(mark):
        open(mark, "w").close()
        worker.find("output", "twice")[0] = -1
        os.kill(os.getpid(), signal.SIGKILL)
    double(worker, task)


def unsettled(worker, task):
    worker.do("next", ctypes.byref(Task(size=ctypes.sizeof(Task))))


def other_name(worker, task):
    worker.find("output", "thrice")


def leave(worker, task):
    if worker.sample().id == 3:
        sys.exit(0)
    double(worker, task)


def give_up(worker, task):
    worker.do("fail", b"the model is gone")
    sys.exit(3)


def consume(worker, total):
    for task in worker.tasks():
        total += sum(worker.find("input", "value"))
        worker.do("report", b"total", ctypes.c_double(total))
        worker.do("finish")


TASKS = {"double": double, "wrong": lambda worker, task: double(worker, task, 3), "draw": draw,
         "count": count, "odd": odd, "fail": fail, "die": die, "kill_once": kill_once,
         "unsettled": unsettled, "other_name": other_name, "leave": leave, "give_up": give_up}


def change_layout():
    """What a run of another version would have in its memory: its header says so."""
    role = json.loads(os.environ["BRIGADE_WORKER"])
    size = os.fstat(role["control"]).st_size
    content = bytearray(os.pread(role["control"], size, 0))
    for i in range(8, 16):
        content[i] ^= 0xff
    copy = os.memfd_create("copy")
    os.write(copy, content)
    os.dup2(copy, role["control"])


def main():
    library, behaviour = os.environ["BRIGADE_LIBRARY"], sys.argv[1]
    if behaviour == "never_attaches":
        print("I am no stage")
        return
    if behaviour == "child":
        if os.fork() == 0:
            Worker(library)
        os.wait()
        return
    if behaviour == "other_version":
        role = json.loads(os.environ["BRIGADE_WORKER"])
        role["rings"] = "of another version"
        os.environ["BRIGADE_WORKER"] = json.dumps(role)
    if behaviour == "other_layout":
        change_layout()
    worker = Worker(library)
    if behaviour == "garbage":
        os.write(1, b"\xff\xfe\x00 no \x1b[31mtext\n" * 3 + b"without an end")
        os.write(2, b"{\"kind\": \"done\"}\n")
        behaviour = "double"
    if behaviour == "twice":
        try:
            Worker(library)
        except RuntimeError as error:
            print(error, flush=True)
        behaviour = "double"
    if behaviour == "sum":
        consume(worker, 0)
    else:
        for task in worker.tasks():
            TASKS[behaviour](worker, task)
    worker.close()


main()
