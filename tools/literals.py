"""The texts in the string literals of C++ and Python, as users meet them. Docstrings are none."""

import ast

import cpp_source

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def python_literals(text: str):
    """(line, text) of every string that is no docstring."""
    tree = ast.parse(text)
    docstrings = {id(node.body[0].value) for node in ast.walk(tree)
                  if isinstance(node, _DOCUMENTED) and node.body
                  and isinstance(node.body[0], ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (
                id(node) not in docstrings):
            yield node.lineno, node.value


def literals(source):
    """(line of its first literal, text) of every text of a C++ or Python file."""
    if source.is_cpp:
        return cpp_source.literals(source.text)
    return python_literals(source.text) if source.suffix == ".py" else ()
