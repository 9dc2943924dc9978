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
# Python API reference

Made from the docstrings and stubs of `brigade` {brigade.__version__}, as `help()` shows them.
[PYTHON](PYTHON.md) explains them with examples.
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
            said = behind.get(name) or getattr(getattr(owner, name, None), "__doc__", None) or ""
            said = "" if said.startswith("Alias for field") else said  # of every NamedTuple
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


def constants(body):
    """Values that are public, by name."""
    return [node.target.id for node in body if isinstance(node, ast.AnnAssign) and
            not node.target.id.startswith("_")]


def constant_lines(name):
    """What is said above it by `#:`, or by its type."""
    source = (PACKAGE / "__init__.py").read_text()
    above = re.search(rf"((?:^#: .*\n)+){name} =", source, re.M)
    said = re.sub("#: |\n#: ", " ", above[1]) if above else prose(type(getattr(brigade, name)))[0]
    return f"## {name}", said.strip()


def functions(body):
    """Lists of overloads, by name."""
    found = {}
    for node in public(body):
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
    return found


def function_lines(name, overloads):
    said, example = prose(getattr(brigade, name))
    calls = "\n".join(wrapped(signature(one, name)) for one in overloads)
    yield from (f"## {name}", f"```text\n{calls}\n```", said)
    if example:
        yield f"```text\n{example}\n```"


def reference():
    body = stub().body
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    types = [ast.unparse(node) for node in body if isinstance(node, ast.Assign) and
             not isinstance(node.value, ast.Call)]
    sections = {name: class_lines(node, classes) for name, node in classes.items()}
    sections |= {name: function_lines(name, found) for name, found in functions(body).items()}
    sections |= {name: constant_lines(name) for name in constants(body)}
    order = FIRST + [node.name for node in public(body)] + constants(body)
    parts = [HEAD.rstrip(), "```text\n" + "\n".join(types) + "\n```"]
    for name in dict.fromkeys(order):
        if not name.startswith("_"):
            parts += sections[name]
    return "\n\n".join(part for part in parts if part) + "\n"


class Reference(unittest.TestCase):
    def test_the_page_is_what_the_package_says(self):
        if os.environ.get("UPDATE_GOLDEN") == "1":
            PAGE.write_text(reference())
        self.assertEqual(PAGE.read_text(), reference(),
                         f"UPDATE_GOLDEN=1 python3 {__file__} writes it")

    def test_all_that_is_public_is_in_the_stubs(self):
        body = stub().body
        stated = {node.name for node in public(body)} | set(constants(body))
        self.assertEqual(stated | {"examples"}, set(brigade.__all__))

    def test_stubs_have_the_parameters_that_functions_have(self):
        body = stub().body
        pairs = [(name, getattr(brigade, name), found) for name, found in functions(body).items()]
        for node in (one for one in public(body) if isinstance(one, ast.ClassDef)):
            owner = getattr(brigade, node.name)
            pairs += [(f"{node.name}.{name}", inspect.getattr_static(owner, name, None), found)
                      for name, found in functions(node.body).items()]
        pairs = [pair for pair in pairs if inspect.isfunction(pair[1])]
        for name, real, overloads in pairs:
            stated = [argument.arg for one in overloads for argument in
                      one.args.posonlyargs + one.args.args + one.args.kwonlyargs]
            self.assertEqual(list(dict.fromkeys(stated)), list(inspect.signature(real).parameters),
                             name)
        self.assertGreater(len(pairs), 30)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
