"""Conversion of values to the dtype of an output of a Python stage.

Follows NumPy's casting="same_kind", except that no whole number changes its value. An error names
the range of the values and the conversion that fits it: levels from 0 to 1 that become u8 without
a factor would be a black image.
"""

_DECLARED = {"bool": "bool", "uint8": "u8", "int8": "i8", "int16": "i16", "uint16": "i32",
             "int32": "i32", "uint32": "i64", "int64": "i64", "float16": "f16", "float32": "f32",
             "float64": "f64"}
_NEARLY = 1e-3  # beyond 0 and 1, by rounding: less than half a level of 255


def copy_to(view, made, name, numpy):
    """Copies values into an output; raises TypeError or OverflowError."""
    if not numpy.can_cast(made.dtype, view.dtype, "same_kind"):
        raise TypeError(_misfit(view.dtype, made, name, numpy))
    if made.dtype.kind in "ui" and not _holds(view.dtype, made, numpy):
        raise OverflowError(_misfit(view.dtype, made, name, numpy))
    numpy.copyto(view, made, casting="same_kind")


def _holds(dtype, made, numpy):
    if dtype.kind not in "ui" or numpy.can_cast(made.dtype, dtype, "safe") or not made.size:
        return True
    limits = numpy.iinfo(dtype)
    return limits.min <= made.min() and made.max() <= limits.max


def _declare(made):
    dtype = _DECLARED.get(str(made.dtype))
    return f", or declare {dtype} for it in `outputs`" if dtype else ""


def _misfit(dtype, made, name, numpy):
    found, cast = f"{name} is {dtype}, found {made.dtype}", f'.astype("{dtype}")'
    if made.dtype.kind == "c":
        return f"{found}; return its real part or its magnitude, abs({name}){cast}"
    if made.dtype.kind not in "fuib":
        return f"{found}; return numbers of the declared dtype"
    if dtype.kind == "b":
        return f"{found}; return a comparison, such as {name} > 0.5" + _declare(made)
    if dtype.kind not in "ui" or not made.size:
        return f"{found}, which is not converted automatically; return {name}{cast}" + \
            _declare(made)
    if not numpy.isfinite(made).all():
        return f"{found} with NaN or infinite values, which {dtype} cannot hold; replace them" + \
            _declare(made)
    low, high = made.min(), made.max()
    values = f"{low:.4g} to {high:.4g}" if made.dtype.kind == "f" else f"{low} to {high}"
    return f"{found} with values from {values}" + _fitting(dtype, made, name, numpy) + \
        _declare(made)


def _fitting(dtype, made, name, numpy):
    low, high = made.min(), made.max()
    limits, cast = numpy.iinfo(dtype), f'.astype("{dtype}")'
    whole = made.dtype.kind != "f" or bool((made == numpy.rint(made)).all())
    is_level = dtype == numpy.uint8 and made.dtype.kind == "f" and \
        -_NEARLY <= low and high <= 1 + _NEARLY
    if is_level and not whole:
        return f"; return ({name} * 255).round(){cast}"
    if is_level:
        return f", all of them 0 or 1; return {name}{cast} for class numbers, or ({name} * " \
               f"255){cast} if 1 is white"
    if not (limits.min <= low and high <= limits.max):
        return f", which {dtype} cannot hold; scale them to {limits.min} to {limits.max} and " \
               f"return {name}{cast}"
    if not whole and -1 - _NEARLY <= low and high <= 1 + _NEARLY:
        return f", whose fractions {dtype} cannot hold; scale them and return {name}{cast}"
    return f"; return {name}{'' if whole else '.round()'}{cast}"
