"""Tells whether a Python stage may return brigade.DROP: by its `drops=`, or by the names in its
code."""

import functools
import inspect
import sys
import types

from ._stage import DROP


def may_drop(target):
    """True if a function or class with `@brigade.stage` may drop. Without `drops=`: if anything
    defined in its file names DROP. A DROP from elsewhere is not found; the replica reports it."""
    if target.__brigade_stage__.drops is not None:
        return target.__brigade_stage__.drops
    module = vars(sys.modules.get(target.__module__, types.ModuleType("")))
    names = {"DROP"} | {name for name, value in module.items() if value is DROP}
    defined = [target, *(value for value in list(module.values())
                         if getattr(value, "__module__", None) == target.__module__)]
    return any(names & _names(code) for value in defined for code in _codes(value))


def _codes(value):
    if isinstance(value, functools.partial):
        value = value.func
    if inspect.isclass(value):
        return [code for one in list(vars(value).values()) if not inspect.isclass(one)
                for code in _codes(one)]
    value = inspect.unwrap(getattr(value, "__func__", value))
    code = getattr(value, "__code__", None)
    return [code] if isinstance(code, types.CodeType) else []


def _names(code):
    """The names in the code, including nested definitions."""
    found = {*code.co_names, *code.co_varnames, *code.co_freevars}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
    return found
