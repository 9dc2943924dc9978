"""Looks at a Python stage when a graph is checked: what it takes, what it writes, what is wrong.

In a process of its own (brigade._replica --describe), which has imported the user's file.
"""

import difflib
import importlib
import importlib.machinery
import importlib.util
import inspect
import os
import re
import sys
import traceback

from ._drops import may_drop
from ._errors import OF_USERS
from ._stage import Ports, Same, TensorType, parse_output

SPECIAL = ("out", "rng", "sample", "worker")  # arguments that are no tensors
OWN_PARAMS = ("call", "python", "import_timeout")  # of the stage, not of the function
_SOURCE_MAX = 80  # characters of a line of source in a message


class Mistake(Exception):
    """`at`: "call", "from", or the name of a parameter."""

    def __init__(self, at, message, *help_lines):
        super().__init__(message)
        self.at, self.message, self.help = at, message, [line for line in help_lines if line]


def one_line(error, file=None):
    """Type, message, and the last frame of the user's file, with its line of source."""
    try:
        text = " ".join(str(error).split()) or "no message"
    except OF_USERS as other:
        text = f"no message: its str() raises {type(other).__name__}"
    if isinstance(error, SyntaxError) and error.filename:
        return f"{type(error).__name__}: {error.msg}" + _place(error.filename, error.lineno,
                                                               error.text)
    frames = traceback.extract_tb(error.__traceback__)
    users = [frame for frame in frames if frame.filename == file] or [
        frame for frame in frames
        if not frame.filename.startswith(("<", os.path.dirname(__file__)))]
    place = _place(users[-1].filename, users[-1].lineno, users[-1].line) if users else ""
    return f"{type(error).__name__}: {text}{place}"


def _place(file, number, source):
    line = " ".join((source or "").split())
    if len(line) > _SOURCE_MAX:
        line = line[:_SOURCE_MAX - 3] + "..."
    return f" ({shown(file)}:{number}{': ' * bool(line)}{line})"


def shown(file):
    """The path relative to the graph's folder, which is the working directory, if it is inside."""
    try:
        relative = os.path.relpath(file)
    except FileNotFoundError:  # the working directory is removed
        return file
    return file if relative.startswith("..") else relative


def argument_of(tensor):
    """`left.image` of a zip is the argument `left_image`."""
    return re.sub(r"\W", "_", tensor)


def guess(name, names):
    meant = difflib.get_close_matches(name, names, 1)
    return f'did you mean "{meant[0]}"?' if meant else None


def load(module, name):
    """The object `name` of a file or a module. Raises Mistake."""
    file = module if os.path.isabs(module) else None
    if module == "__main__":
        raise Mistake("call", "a replica does not run the `__main__` of your program",
                      f'move "{name}" to a separate file that both import, and '
                      f'write `call: "FILE.py:{name}"`')
    try:
        found = _import_file(module) if file else importlib.import_module(module)
    except OF_USERS as error:
        raise Mistake("call", one_line(error, file)) from error
    target = found
    for part in name.split("."):
        if not hasattr(target, part):
            stages = [key for key, value in vars(found).items()
                      if hasattr(value, "__brigade_stage__")]
            raise Mistake("call", f"{shown(module) if file else module} has no \"{name}\"",
                          guess(name, stages) or (stages and f"it has {', '.join(stages)}"))
        target = getattr(target, part)
    return target


def _import_file(path):
    folder = os.path.dirname(path)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = os.path.splitext(os.path.basename(path))[0]
    if name in sys.modules:  # a file that is called as another module
        name = "_stage_" + name
    spec = importlib.util.spec_from_file_location(
        name, path, loader=importlib.machinery.SourceFileLoader(name, path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # classes of it can be pickled
    spec.loader.exec_module(module)
    return module


class Signature:
    """The arguments of a stage: which ones are tensors, which ones parameters."""

    def __init__(self, target, name):
        self.target, self.name = target, name
        module = sys.modules.get(getattr(target, "__module__", ""))
        self.file = getattr(module, "__file__", None)
        self.ports = getattr(target, "__brigade_stage__", None)
        if not isinstance(self.ports, Ports):
            raise Mistake("call", f'"{name}" does not declare its inputs and outputs',
                          "write `@brigade.stage(outputs={\"image\": \"=image\"})` above it")
        self.is_class = inspect.isclass(target)
        if self.is_class and not callable(getattr(target, "__call__", None)):
            raise Mistake("call", f'"{name}" is a class without `__call__`')
        function = target.__call__ if self.is_class else target
        if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
            raise Mistake("call", f'"{name}" yields, or is `async`; a stage must return its '
                                  'result')
        called = inspect.signature(function).parameters
        self.called = list(called.values())[1 if self.is_class else 0:]
        self.made = list(inspect.signature(target).parameters.values()) if self.is_class else []
        self.takes_all = any(one.kind is one.VAR_KEYWORD for one in self.called)
        for one in self.called:
            if one.kind in (one.VAR_POSITIONAL, one.POSITIONAL_ONLY):
                raise Mistake("call", f'"{name}" takes `{one.name}` by position; tensors are '
                                      'passed by name')

    def special(self):
        return {one.name for one in self.called} & set(SPECIAL)

    def split(self, params, tensors):
        """{argument: tensor}; the parameters of the call, and of `__init__`. Raises Mistake."""
        params = {key: value for key, value in params.items() if key not in OWN_PARAMS}
        by_argument = {argument_of(tensor): tensor for tensor in tensors}
        names = {one.name for one in self.called
                 if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
        taken = {argument: tensor for argument, tensor in by_argument.items()
                 if argument not in SPECIAL and (argument in names or self.takes_all)}
        makes = {one.name for one in self.made}
        free = any(one.kind is one.VAR_KEYWORD for one in self.made)
        of_call, of_init = {}, {}
        for key, value in params.items():
            if self.is_class and (key in makes or free):
                of_init[key] = value
            elif not self.is_class and key in names and key not in SPECIAL:
                if key in taken:
                    raise Mistake(key, f'"{key}" is also an input tensor; rename the argument')
                of_call[key] = value
            else:
                known = (makes if self.is_class else names) - set(SPECIAL) - set(taken)
                raise Mistake(key, f'"{self.name}" has no parameter "{key}"', guess(key, known) or (
                    f"it has {', '.join(sorted(known))}" if known else "it has none"))
        self._check_given(taken, of_call, of_init, tensors)
        return taken, of_call, of_init

    def _check_given(self, taken, of_call, of_init, tensors):
        def is_missing(one, given):
            return (one.default is one.empty and one.name not in given
                    and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY))

        for one in self.called:
            if one.name not in SPECIAL and is_missing(one, taken.keys() | of_call.keys()):
                what = "" if self.is_class else ", and neither has `params:`"
                arrives = (f"the input has {', '.join(tensors)}"
                           if tensors else "the input has no tensors")
                raise Mistake("from", f'"{self.name}" takes `{one.name}`, but the input has no '
                                      f'tensor of that name{what}', arrives,
                              guess(one.name, tensors))
        for one in self.made:
            if one.name != "worker" and is_missing(one, of_init):
                raise Mistake("call", f'"{self.name}" needs the parameter "{one.name}"',
                              f"`params: {{{one.name}: ...}}`")


def outputs_of(signature, types, of_call, of_init):
    """name -> TensorType. Raises Mistake."""
    outputs = signature.ports.outputs
    if callable(outputs):
        known = {**{argument_of(name): kind for name, kind in types.items()},
                 **of_init, **of_call}
        wanted = inspect.signature(outputs).parameters
        if not any(one.kind is one.VAR_KEYWORD for one in wanted.values()):
            known = {key: value for key, value in known.items() if key in wanted}
        try:
            outputs = {name: parse_output(name, text) for name, text in outputs(**known).items()}
        except Exception as error:
            raise Mistake("call", f'the outputs of "{signature.name}": '
                          + one_line(error, signature.file)) from error
    made = {}
    for name, kind in outputs.items():
        if isinstance(kind, Same) and kind.name not in types:
            raise Mistake("from", f'"{signature.name}" writes {name} as `={kind.name}`, but the '
                                  'input has no tensor of that name', guess(kind.name, list(types)))
        made[name] = types[kind.name] if isinstance(kind, Same) else kind
    return made


def _check_kind(signature, kind, question):
    outputs = signature.ports.outputs
    if kind == "consumer" and outputs:
        raise Mistake("call", f'"{signature.name}" declares outputs, but a consumer has none')
    if kind != "consumer" and outputs is None:
        raise Mistake("call", f'"{signature.name}" does not declare its outputs',
                      "write `@brigade.stage(outputs={\"image\": \"u8[32, 32, 3]\"})`, or "
                      "`outputs={}` if all tensors pass unchanged")
    if kind == "producer" and not question["counted"] and not (
            signature.is_class and hasattr(signature.target, "__len__")):
        raise Mistake("call", "the number of samples is unknown",
                      "write `count: 1000` next to it, or make it a class with `__len__`")


def _count(signature, of_init):
    try:
        return len(signature.target(**of_init))
    except Exception as error:
        raise Mistake("call", f'the number of samples of "{signature.name}": '
                      + one_line(error, signature.file)) from error


def describe(module, name, question):
    """Answers a question about a stage while a graph is checked."""
    try:
        signature = Signature(load(module, name), name)
        kind = question["kind"]
        _check_kind(signature, kind, question)
        made = {}
        for tensors in question["inputs"]:
            types = {one: TensorType(dtype, tuple(shape)) for one, dtype, shape in tensors}
            _, of_call, of_init = signature.split(question["params"], list(types))
            for one, pattern in signature.ports.inputs.items():
                why = pattern.misfit(types[one]) if one in types else ("the input has no such "
                                                                       "tensor")
                if why:
                    raise Mistake("from", f'"{name}" does not accept {one} {types.get(one, "")}'
                                  .rstrip(), why)
            if kind != "consumer":
                made = outputs_of(signature, types, of_call, of_init)
        answer = {"errors": [], "outputs": [[one, *has] for one, has in made.items()],
                  "keeps_all": not may_drop(signature.target)}
        if kind == "producer" and not question["counted"]:
            answer["count"] = _count(signature, of_init)
        return answer
    except Mistake as mistake:
        return {"errors": [{"at": mistake.at, "message": mistake.message,
                            "help": mistake.help}]}
