"""Graphs: from a path, YAML text or a dict."""

import json
import os
import pathlib
import re
import sys

from . import _brigade

_app = None


def app():
    """The App of this process: its workers execute the `brigade` that came with the library."""
    global _app
    if _app is None:
        if sys.executable:  # of `transform: python`
            os.environ.setdefault("BRIGADE_PYTHON", sys.executable)
        _app = _brigade.App(os.environ.get("BRIGADE_PROGRAM") or None)
    return _app


def _is_text(graph):
    return isinstance(graph, str) and ("\n" in graph or not graph or
                                       re.match(r"\s*[{%]|[\w.]+:(\s|$)", graph))


def read(graph, set=None):  # noqa: A002, as the command line has it
    """A _brigade.Graph of a path, several paths (later ones override earlier ones), YAML or a
    dict."""
    if isinstance(graph, dict):
        made = _brigade.Graph((), json.dumps(graph, default=_plain, indent=1), "dict")
    elif _is_text(graph):
        made = _brigade.Graph((), graph, "text")
    elif isinstance(graph, (str, os.PathLike)):
        made = _brigade.Graph((os.fsencode(graph),))
    else:
        try:
            paths = tuple(os.fsencode(path) for path in graph)
        except TypeError:
            raise TypeError("expected a graph: a path, several of them, YAML, or a dict, found "
                            f"{graph!r}") from None
        made = _brigade.Graph(paths)
    for key_and_value in settings(set):
        made.set(key_and_value)
    return made


def settings(values):
    """As --set: of {"stages.decode.replicas": 4}, or lines in hand.

    >>> settings({"epochs": 3, "vars.data": "/data", "stages.a.shuffle": True})
    ['epochs=3', 'vars.data=/data', 'stages.a.shuffle=true']
    """
    if values is None:
        return []
    if isinstance(values, str):
        return [values]
    if not isinstance(values, dict):
        return [str(line) for line in values]
    return [f"{key}={_yaml_of(value)}" for key, value in values.items()]


def hidden(value):
    """Text that a graph hands on as it is: a graph has variables (`$`), and all of it is UTF-8.

    >>> hidden(["$x"]), shown(hidden(["$x", "\\udcff"]))
    ('5b222478225d', ['$x', '\\udcff'])
    """
    return json.dumps(value).encode().hex()


def shown(text):
    """Reverses hidden()."""
    return json.loads(bytes.fromhex(text))


def _yaml_of(value):
    if isinstance(value, pathlib.PurePath):
        value = str(value)
    if isinstance(value, str) and re.fullmatch(r"[\w./@+-]+", value):
        return value
    return json.dumps(value, default=_plain)


def _plain(value):
    """Converts values that JSON does not support: paths, and NumPy's numbers."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "item"):
        return value.item()
    if callable(value):
        raise TypeError("a graph contains functions by name, because replicas import them; "
                        f"{_name_of(value)}")
    raise TypeError(f"a graph cannot hold {value!r}, a {type(value).__name__}")


def _name_of(function):
    """How to name a function, a class or a callable object in a graph."""
    name = getattr(function, "__qualname__", None)
    module = getattr(function, "__module__", None)
    if name is None:
        name, module = type(function).__name__, None
    if module in (None, "__main__") or not all(part.isidentifier() for part in name.split(".")):
        short = name.rpartition(".")[2]
        known = short.isidentifier()
        return (f'move {short if known else "it"} to a separate file, and write '
                f'"FILE.py:{short if known else "NAME"}"')
    return f'write "{module}:{name}"'
