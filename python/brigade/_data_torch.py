"""Makes frameworks accept brigade.DataLoader as a torch loader: it becomes a subclass of
torch.utils.data.DataLoader once that is imported, and code that rebuilds it as a torch loader gets
a Brigade loader."""

import importlib.util
import inspect
import sys

from ._log import logger

_MODULE = "torch.utils.data.dataloader"
_WORKERS_AT = 5  # place of num_workers among torch's parameters


class Workers(int):
    """num_workers of a brigade.DataLoader: an int that remembers its loader. Frameworks rebuild a
    loader from its parameters, and this one is in all their lists; on_event, which is not, travels
    with it. It is pickled and copied as a plain int."""

    def __new__(cls, number, on_event=None):
        made = super().__new__(cls, number)
        made.on_event = on_event
        return made

    def __reduce__(self):
        return int, (int(self),)

    def __copy__(self):
        return self

    def __deepcopy__(self, _):
        return self

    __repr__ = __str__ = int.__repr__


def _is_stateful(kind):
    """torchdata's loader, created by accelerate with use_stateful_dataloader=True."""
    return kind is getattr(sys.modules.get("torchdata.stateful_dataloader"), "StatefulDataLoader",
                           None)


def _new_of(theirs, ours):
    """Replaces torch's DataLoader.__new__: returns a Brigade loader if num_workers comes from one;
    others are created as usual."""
    def __new__(cls, *args, **kwargs):
        workers = kwargs.get("num_workers", args[_WORKERS_AT] if len(args) > _WORKERS_AT else 0)
        if isinstance(workers, Workers) and (cls is theirs or _is_stateful(cls)):
            made = object.__new__(ours)
            if cls is not theirs:  # else Python calls __init__
                kwargs.pop("snapshot_every_n_steps", None)  # a state is of every step
                made.__init__(*args, **kwargs)
            return made
        above = super(theirs, cls).__new__
        return above(cls) if above is object.__new__ else above(cls, *args, **kwargs)

    __new__.__signature__ = inspect.signature(theirs.__init__)
    return staticmethod(__new__)


def _adopt(module, ours):
    theirs = getattr(module, "DataLoader", None)
    if theirs is None or issubclass(ours, theirs):
        return
    try:
        ours.__bases__ = (theirs,)
        theirs.__new__ = _new_of(theirs, ours)
    except Exception as error:  # must not end the import of torch
        logger.warning("DataLoader: frameworks do not recognize it as a torch DataLoader, "
                       "because a subclass has incompatible bases: %s. Import torch before you "
                       "define that class to see where.", error)


class _Finder:
    """Finds torch's module as the later finders do, and calls `done` when it has run."""

    def __init__(self, done):
        self._done, self._looking = done, False

    def find_spec(self, name, path=None, target=None):
        if name != _MODULE or self._looking:
            return None
        self._looking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._looking = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Then(spec.loader, self._ran)
        return spec

    def _ran(self, module):
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        self._done(module)


class _Then:
    """Wraps a module's loader and adds a call after it; everything else is delegated."""

    def __init__(self, loader, then):
        self._loader, self._then = loader, then

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._then(module)


def become_torch_s(ours):
    """Makes the class `ours` a subclass of torch's DataLoader: now, or when torch is imported."""
    if _MODULE in sys.modules:
        _adopt(sys.modules[_MODULE], ours)
    else:
        sys.meta_path.insert(0, _Finder(lambda module: _adopt(module, ours)))
