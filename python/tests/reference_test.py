"""docs/PYTHON_API.md is what the package's stubs and docstrings say.

UPDATE_GOLDEN=1 PYTHONPATH=BUILD/python python3 python/tests/reference_test.py writes it."""

import ast
import dataclasses
import inspect
import os
import pathlib
import re
import sys
import unittest

import brigade

PACKAGE = pathlib.Path(__file__).resolve().parents[1] / "brigade"
PAGE = PACKAGE.parents[1] / "docs" / "PYTHON_API.md"
HEAD = f"""\
# What is in the Python package?

Made from the docstrings and stubs of `brigade` {brigade.__version__}, as `help()` shows them.
[PYTHON.md](PYTHON.md) explains by examples.
"""
SHOWN = {"__init__", "__getitem__", "__iter__", "__len__"}
FIRST = ["Loader", "DataLoader", "open", "Run", "Output", "Batch", "Row", "Tensor"]  # then the rest


def public(nodes):
    return [node for node in nodes if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and
            (not node.name.startswith("_") or node.name in SHOWN)]


def stub():
    return ast.parse((PACKAGE / "__init__.pyi").read_text())


def signature(node, name):
    arguments = re.sub(r"^self(, /)?(, )?", "", ast.unparse(node.args))
    arguments = re.sub(r"(?<! )=(?! )", " = ", arguments)
    result = ast.unparse(node.returns)
    gives = "" if result in ("None", "Self") or name[0].isupper() else f" -> {result}"
    return f"{name}({arguments}){gives}"


def is_property(node):
    return any(isinstance(one, ast.Name) and one.id == "property" for one in node.decorator_list)


def prose(thing):
    """A docstring in Markdown: examples are blocks."""
    text = inspect.getdoc(thing) or ""
    parts, example = [], []
    for paragraph in text.split("\n\n"):
        if paragraph.startswith(">>>"):
            example.append(paragraph)
        else:
            parts.append(paragraph)
    return "\n\n".join(parts), "\n\n".join(example)


def member(node, owner):
    thing = inspect.getattr_static(owner, node.name, None)
    inherited = node.name in SHOWN and not inspect.isfunction(thing)  # as every class has them
    said = "" if inherited else prose(thing)[0]
    head = (f"{node.name}: {ast.unparse(node.returns)}" if is_property(node) else
            signature(node, node.name))
    return listed(head, said)


def listed(head, said):
    text = f"- `{head}`" + (f": {said}" if said else "")
    return text.replace("\n", "\n  ").replace("\n  \n", "\n\n")


def fields(node, owner):
    """Of a tuple, or of a dataclass, with what stands behind `#:` in its source."""
    text = inspect.getsource(owner) if dataclasses.is_dataclass(owner) else ""
    behind = dict(re.findall(r"^    (\w+): .*?#: (.*)$", text, re.M))
    for one in node.body:
        if isinstance(one, ast.AnnAssign):
            name = one.target.id
            said = behind.get(name) or getattr(getattr(owner, name, None), "__doc__", None)
            yield listed(f"{name}: {ast.unparse(one.annotation)}", said)


def class_lines(node, classes):
    """Bases that the package does not show give their members to the class itself."""
    owner = getattr(brigade, node.name)
    bases = [ast.unparse(base) for base in node.bases]
    nodes = public(node.body)
    for base in bases:
        if base.startswith("_"):
            nodes += public(classes[base].body)
    made = [one for one in nodes if one.name == "__init__"]
    yield f"## {node.name}"
    if made:
        yield f"```text\n{wrapped(signature(made[0], node.name))}\n```"
    said, example = prose(owner)
    shown = [base for base in bases if not base.startswith("_")]
    yield said + (f" Base: {', '.join(f'`{base}`' for base in shown)}." if shown else "")
    if example:
        yield f"```text\n{example}\n```"
    members = [member(one, owner) for one in nodes if one.name != "__init__"]
    if node.body:
        yield "\n".join([*fields(node, owner), *members])


def wrapped(call):
    """A signature, a parameter to a line where one line would be long."""
    if len(call) <= 100:
        return call
    name, arguments, gives = re.fullmatch(r"(\w+)\((.*)\)( -> .*)?", call).groups()
    parts = re.split(r", (?=\*?\w*(?:: |,|$))", arguments)
    return f"{name}(\n    " + ",\n    ".join(parts) + f"\n){gives or ''}"


def reference():
    body = stub().body
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    types = [ast.unparse(node) for node in body if isinstance(node, ast.Assign)]
    parts = [HEAD.rstrip(), "```text\n" + "\n".join(types) + "\n```"]
    for node in sorted(public(body), key=lambda node: (
            FIRST.index(node.name) if node.name in FIRST else len(FIRST))):
        if isinstance(node, ast.ClassDef):
            parts += class_lines(node, classes)
            continue
        said, example = prose(getattr(brigade, node.name))
        parts += [f"## {node.name}", f"```text\n{wrapped(signature(node, node.name))}\n```", said]
        parts += [f"```text\n{example}\n```"] if example else []
    return "\n\n".join(part for part in parts if part) + "\n"


class Reference(unittest.TestCase):
    def test_the_page_is_what_the_package_says(self):
        if os.environ.get("UPDATE_GOLDEN") == "1":
            PAGE.write_text(reference())
        self.assertEqual(PAGE.read_text(), reference(),
                         f"UPDATE_GOLDEN=1 python3 {__file__} writes it")

    def test_all_that_is_public_is_in_the_stubs(self):
        modules = {"examples"}
        self.assertEqual({node.name for node in public(stub().body)} | modules,
                         set(brigade.__all__))

    def test_stubs_have_the_parameters_that_functions_have(self):
        compared = 0
        for node in public(stub().body):
            thing = getattr(brigade, node.name)
            pairs = ([(node, thing)] if isinstance(node, ast.FunctionDef) else
                     [(one, inspect.getattr_static(thing, one.name, None))
                      for one in public(node.body)])
            for one, real in pairs:
                if inspect.isfunction(real) and isinstance(one, ast.FunctionDef):
                    arguments = one.args.posonlyargs + one.args.args + one.args.kwonlyargs
                    self.assertEqual([argument.arg for argument in arguments],
                                     list(inspect.signature(real).parameters),
                                     f"{node.name}.{one.name}")
                    compared += 1
        self.assertGreater(compared, 30)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
