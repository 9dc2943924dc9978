"""The texts of C++ and Python that users read: string literals and docstrings."""

import ast
import re

import cpp_source

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _docstring_nodes(tree):
    return [node.body[0].value for node in ast.walk(tree)
            if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False)]


def python_literals(text: str):
    """(line, text) of every string that is not a docstring."""
    tree = ast.parse(text)
    docstrings = {id(node) for node in _docstring_nodes(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (
                id(node) not in docstrings):
            yield node.lineno, node.value


def docstrings(source):
    """(line, text) of every paragraph in the docstrings of a Python file, without code."""
    nodes = _docstring_nodes(ast.parse(source.text)) if source.suffix == ".py" else ()
    for node in nodes:
        prose = re.sub(r"``.*?``", lambda code: "`" + "\n" * code.group().count("\n"), node.value,
                       flags=re.S)
        for found in re.finditer(r"(?:.+\n?)+", prose):
            line = node.lineno + prose[:found.start()].count("\n")
            yield line, " ".join(found.group().split())


def literals(source):
    """(line of its first literal, text) of every text of a C++ or Python file."""
    if source.is_cpp:
        return cpp_source.literals(source.text)
    return python_literals(source.text) if source.suffix == ".py" else ()
