"""Representations of loaders and batches in a terminal and in a notebook. Nothing here starts a
run, waits for data or raises."""

import functools
import html
import re

_LONG = {"u": "uint", "i": "int", "f": "float", "bf": "bfloat"}


def never_raises(fallback):
    """Decorates a method that shows an object, even one whose constructor failed."""
    def wrap(method):
        @functools.wraps(method)
        def shown(self):
            try:
                return method(self)
            except Exception:
                return fallback
        return shown
    return wrap


def dtype_name(short):
    """
    >>> [dtype_name(short) for short in ("u8", "bf16", "bool")]
    ['uint8', 'bfloat16', 'bool']
    """
    letters, digits = re.fullmatch(r"([a-z]+)(\d*)", short).groups()
    return _LONG[letters] + digits if digits else short


def dtype_and_shape(tensor):
    """The dtype and shape of a tensor of any library, or of a list of them, one per sample."""
    if isinstance(tensor, list):
        dtypes = {_dtype(one) for one in tensor}
        return "/".join(sorted(dtypes)), f"{len(tensor)} of various shapes"
    shape = list(getattr(tensor, "shape", ()))
    if getattr(tensor, "ragged", False) is True:
        return _dtype(tensor), f"{shape[0]} of various shapes, at most {shape[1:]}"
    return _dtype(tensor), str(shape)


def _dtype(tensor):
    return str(getattr(tensor, "dtype", "")).removeprefix("torch.")


def batches_of_plan(plan):
    """The sources of a loader: (port, [(name, dtype, shape of a batch)]) of each."""
    consumer = next(one for one in plan["stages"] if one["kind"] == "consumer")
    sources = []
    for queue in consumer["queues"]:
        zipped = len(queue["inputs"]) > 1
        tensors = []
        for read in queue["inputs"]:
            for tensor in plan["stages"][read["stage"]]["ring"]["tensors"]:
                kind = tensor["type"]
                if kind["name"] in read["tensors"]:
                    name = f"{read['port']}.{kind['name']}" if zipped else kind["name"]
                    tensors.append((name, dtype_name(kind["dtype"]),
                                    _shape([queue["task"], *kind["shape"]])))
        sources.append((queue["inputs"][0]["port"], tensors))
    return sources


def _shape(sizes):
    shown = [f"<={size['up_to']}" if isinstance(size, dict) else str(size) for size in sizes]
    return f"[{', '.join(shown)}]"


def counted(number, one, many):
    """
    >>> counted(1, "batch", "batches"), counted(60000, "sample", "samples")
    ('1 batch', '60,000 samples')
    """
    return f"{number:,} {one if number == 1 else many}"


def table(title, facts, columns=(), rows=()):
    """HTML: facts as name and value, then rows below their columns."""
    def cells(tag, texts):
        return "<tr>" + "".join(f"<{tag} style=\"text-align:left\">{html.escape(str(text))}</{tag}>"
                                for text in texts) + "</tr>"

    parts = [f"<div><strong>{html.escape(title)}</strong>"]
    if facts:
        parts.append("<p>" + "<br>".join(f"{html.escape(name)}: {html.escape(str(value))}"
                                         for name, value in facts) + "</p>")
    if rows:
        parts += ["<table>", cells("th", columns), *(cells("td", row) for row in rows), "</table>"]
    return "".join([*parts, "</div>"])
