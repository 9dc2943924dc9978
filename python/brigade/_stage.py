"""The declaration of a Python stage: a decorator, and a notation for tensors.

The notation is the one of Brigade's messages: `u8[32, 32, 3]`, `f32[]` (a scalar), `u8[<=100]` (its
sizes differ from sample to sample). For an input, `any` means any size or dtype, `u8|f32` one
of several, `[...]` any shape. For an output, `=image` is the type of the input `image`.
"""

import re
from typing import NamedTuple

DTYPES = ("bool", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64")
NOTATION = ("write `u8[32, 32, 3]`, `f32[]` for a scalar, `u8[<=100]` if it differs from sample "
            "to sample")


class TensorType(NamedTuple):
    """The type of one sample's tensor: `str()` is the notation.

    >>> import brigade
    >>> image = brigade.TensorType("u8", (28, 28, "<=3"))
    >>> str(image), image.shape[0]
    ('u8[28, 28, <=3]', 28)
    """

    dtype: str
    shape: tuple

    def __str__(self):
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


class Pattern(NamedTuple):
    """The types that an input accepts."""

    dtypes: tuple  # none: any
    shape: tuple | None  # None: any

    def misfit(self, has):
        """Why a TensorType does not fit; None if it does."""
        if self.dtypes and has.dtype not in self.dtypes:
            return "the dtype differs"
        if self.shape is None:
            return None
        if len(self.shape) != len(has.shape):
            return f"it has {len(has.shape)} dimensions, expected {len(self.shape)}"
        for i, (want, size) in enumerate(zip(self.shape, has.shape), 1):
            fits = want == "any" or want == size
            if isinstance(want, str) and want.startswith("<="):
                fits = int(want[2:]) >= int(str(size).removeprefix("<="))
            if not fits:
                return f"dimension {i} is {size}, expected {want}"
        return None


class Same(NamedTuple):
    """`=image`."""

    name: str


def _size(text, is_input):
    text = text.strip()
    if re.fullmatch(r"[1-9]\d*", text):
        return int(text)
    if re.fullmatch(r"<=\s*[1-9]\d*", text):
        return "<=" + text[2:].strip()
    if is_input and text == "any":
        return text
    raise ValueError(f"{text!r} is not a size; {NOTATION}")


def _parts(name, text):
    if not isinstance(text, str):
        raise TypeError(f"tensor {name!r}: {text!r} is not a type; {NOTATION}")
    found = re.fullmatch(r"\s*([\w|]+)\s*\[(.*)\]\s*", text)
    if found is None:
        raise ValueError(f"tensor {name!r}: {text!r} is not a type; {NOTATION}")
    dtype, sizes = found[1], found[2].strip()
    return dtype.split("|"), sizes


def _known(name, dtypes):
    for dtype in dtypes:
        if dtype not in DTYPES:
            raise ValueError(f"tensor {name!r}: {dtype!r} is not a dtype; expected one of "
                             + ", ".join(DTYPES))


def parse_output(name, text):
    """A TensorType, or Same.

    >>> parse_output("x", "f32[3, <=4]"), parse_output("x", "=image")
    (TensorType(dtype='f32', shape=(3, '<=4')), Same(name='image'))
    """
    if isinstance(text, TensorType):
        text = str(text)
    if isinstance(text, str) and text.strip().startswith("="):
        return Same(text.strip()[1:].strip())
    dtypes, sizes = _parts(name, text)
    _known(name, dtypes)
    if len(dtypes) != 1:
        raise ValueError(f"tensor {name!r}: an output has one dtype, found {text!r}")
    return TensorType(dtypes[0], tuple(_size(one, False) for one in sizes.split(",") if sizes))


def parse_input(name, text):
    """A Pattern.

    >>> parse_input("x", "u8|f32[any, 3]"), parse_input("x", "any[...]")
    (Pattern(dtypes=('u8', 'f32'), shape=('any', 3)), Pattern(dtypes=(), shape=None))
    """
    if isinstance(text, TensorType):
        text = str(text)
    dtypes, sizes = _parts(name, text)
    if dtypes == ["any"]:
        dtypes = []
    _known(name, dtypes)
    shape = (None if sizes == "..." else
             tuple(_size(one, True) for one in sizes.split(",") if sizes))
    return Pattern(tuple(dtypes), shape)


class Ports(NamedTuple):
    """The arguments of the decorator."""

    inputs: dict  # name -> Pattern; others may arrive, and are taken by name
    outputs: object  # name -> TensorType or Same; a function that gives such texts; or None
    drops: object = None  # whether it may return DROP; None: as its file names it


def stage(function=None, /, *, inputs=None, outputs=None, drops=None):
    """Makes a function, or a class with callable objects, a stage of a graph, which names it:
    `transform: python`, `params: {call: "augment.py:flip"}`. The function itself is unchanged.

    `outputs` declares each tensor that it writes, for one sample: a dict of types, or a function of
    the inputs' types (and of parameters) that returns one. `inputs` declares the types of inputs,
    if that matters; the function's arguments name the inputs that it reads. `drops` tells whether
    it may return `brigade.DROP`, on which len() of a loader depends; by default, its file is
    searched for that name.

    >>> import brigade
    >>> @brigade.stage(inputs={"image": "u8[any, any, 3]"}, outputs={"image": "=image"})
    ... def flip(image, rng, chance=0.5):
    ...     return image[:, ::-1] if rng.random() < chance else image
    >>> @brigade.stage(outputs=lambda image, by=2: {"image": f"u8[{image.shape[0] // by}]"})
    ... def shrink(image, by=2):
    ...     return image[::by]
    """
    patterns = {name: parse_input(name, text) for name, text in (inputs or {}).items()}
    if outputs is not None and not callable(outputs):
        outputs = {name: parse_output(name, text) for name, text in outputs.items()}

    def mark(target):
        target.__brigade_stage__ = Ports(patterns, outputs, drops)
        return target

    return mark if function is None else mark(function)


class _Drop:
    """A stage returns this to drop a sample."""

    def __repr__(self):
        return "brigade.DROP"


DROP = _Drop()
