"""Classes of the program's __main__ for workers that do not run it, mostly for files written by
pickle or torch.save() that name them."""

import io
import pickle
import sys
import types

MAIN = ("__main__", "__mp_main__")  # the program; and that of a spawned process
_CLASS_BYTES_MAX = 1 << 20  # with what its methods name; a longer one stays in the program

_definitions = {}  # of the program: name -> a pickle, None of what cannot be had here
_loaded = {}


class _Bounded(io.BytesIO):
    def write(self, data):
        size = memoryview(data).nbytes
        if self.tell() + size > _CLASS_BYTES_MAX:
            raise OverflowError(f"more than {_CLASS_BYTES_MAX} bytes")
        return super().write(data)


class WithClasses:
    """A thing pickled together with the classes of __main__, so that the reader knows them.
    `pickler` pickles classes by value; if None, they are pickled by name only."""

    def __init__(self, thing, pickler, protocol):
        self._thing, self._definitions = thing, {}
        for name, value in list(vars(sys.modules["__main__"]).items()):
            if getattr(value, "__module__", None) in MAIN and \
                    isinstance(value, (type, types.FunctionType)):
                self._definitions[name] = _pickle_of(value, pickler, protocol)

    def __reduce__(self):
        return _take, (self._thing, self._definitions)


def _pickle_of(value, pickler, protocol):
    """Pickles a class, but no function: functions refer to other objects of the program, which may
    be large."""
    if pickler is None or not isinstance(value, type):
        return None
    file = _Bounded()
    try:
        pickler(file, protocol=protocol).dump(value)
    except Exception:  # using it in a worker raises an error
        return None
    return file.getvalue()


def _take(thing, definitions):
    if definitions != _definitions:
        _definitions.clear()
        _definitions.update(definitions)
        _loaded.clear()
    sys.modules["__main__"].__getattr__ = _of_program
    return thing


def _of_program(name):
    if name in _loaded:
        return _loaded[name]
    if name not in _definitions:
        raise AttributeError(f"module '__main__' has no attribute {name!r}")
    if _definitions[name] is None:
        raise TypeError(f"{name} is defined in __main__, which workers of the server do not run; "
                        "move it to a module, or use multiprocessing_context='fork'")
    _loaded[name] = pickle.loads(_definitions[name])
    return _loaded[name]
