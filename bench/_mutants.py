# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Mutants of a module: its source with one operator, constant, return or statement changed. Pure.

Strings, annotations and logging stay: no rule depends on them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip
SKIPPED_FIELDS = ('annotation', 'returns', 'decorator_list', 'type_params', 'bases')
Edit = Callable[[Any], None]
Path = tuple[tuple[str, int | None], ...]  # fields and indices from the module to a node


@dataclass(frozen=True)
class Mutant:
    """``before`` and ``after``: the changed statement, in one line each."""

    line: int
    operator: str
    before: str
    after: str
    source: str


def count(source: str) -> int:
    """How many mutants the source has; far cheaper than making them."""
    return sum(len(edits) for _, _, edits in _places(source))


def nth(source: str, number: int) -> Mutant:
    """The mutant of that number, below ``count``, in the order of the source."""
    for path, node, edits in _places(source):
        if number < len(edits):
            operator, edit = edits[number]
            tree, twin = ast.parse(source), ast.parse(source)
            edit(_at(twin, path))
            before, after = _statement(tree, path), _statement(twin, path)
            return Mutant(node.lineno, operator, _line(before), _line(after), ast.unparse(twin))
        number -= len(edits)
    raise IndexError('the source has fewer mutants')


def _places(source: str) -> Iterator[tuple[Path, Any, list[tuple[str, Edit]]]]:
    for path, node, in_function in _nodes(ast.parse(source), (), False):
        # Without a name of the module or a class, nothing would import.
        edits = [each for each in _edits(node) if in_function or each[0] != 'deletion']
        if edits:
            yield path, node, edits


def _edits(node: Any) -> Iterator[tuple[str, Edit]]:
    """The changes of this node alone, with the name of the mutation operator."""
    if isinstance(node, ast.Compare):
        for i, kind in enumerate(node.ops):
            if type(kind) in COMPARISONS:
                yield 'comparison', _set_op(i, COMPARISONS[type(kind)])
    elif isinstance(node, ast.BoolOp):
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield 'boolean', lambda node: setattr(node, 'op', other())
    elif isinstance(node, ast.If | ast.IfExp):
        yield 'boolean', _negate
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        swapped = ARITHMETIC[type(node.op)]
        yield 'arithmetic', lambda node: setattr(node, 'op', swapped())
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield 'constant', lambda node: setattr(node, 'value', not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield 'constant', lambda node: setattr(node, 'value', node.value + 1)
    elif isinstance(node, ast.Return) and not _is_empty(node.value):
        yield 'return', lambda node: setattr(node, 'value', ast.Constant(None))
    elif isinstance(node, ast.Expr | ast.Assign | ast.AugAssign):
        yield 'deletion', _delete


def _set_op(index: int, kind: type[ast.cmpop]) -> Edit:
    def edit(node: Any) -> None:
        node.ops[index] = kind()

    return edit


def _negate(node: Any) -> None:
    node.test = ast.UnaryOp(ast.Not(), node.test)


def _delete(node: Any) -> None:
    """Make the statement ``None``; the position keeps the path valid."""
    node.__class__ = ast.Expr
    node.__dict__ = {'value': ast.Constant(None), 'lineno': node.lineno, 'col_offset': 0}


def _is_empty(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _is_text(node: ast.Expr) -> bool:
    """A docstring, an ellipsis, or a call of a logger."""
    return isinstance(node.value, ast.Constant) or ast.unparse(node).startswith('_log')


def _nodes(node: ast.AST, path: Path, inside: bool) -> Iterator[tuple[Path, Any, bool]]:
    """Each node that may change, with its path, and whether it is inside a function."""
    inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    for name, value in ast.iter_fields(node):
        if name in SKIPPED_FIELDS:
            continue
        for i, each in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(each, ast.AST) or _is_fixed(each):
                continue
            here = (*path, (name, i if isinstance(value, list) else None))
            yield here, each, inside
            yield from _nodes(each, here, inside)


def _is_fixed(node: ast.AST) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr):
        return True
    if isinstance(node, ast.If):
        return 'TYPE_CHECKING' in ast.unparse(node.test)
    return isinstance(node, ast.Expr) and _is_text(node)


def _at(tree: Any, path: Path) -> Any:
    for name, i in path:
        tree = getattr(tree, name) if i is None else getattr(tree, name)[i]
    return tree


def _statement(tree: Any, path: Path) -> Any:
    """The innermost statement around the node of ``path``."""
    found = tree
    for name, i in path:
        tree = getattr(tree, name) if i is None else getattr(tree, name)[i]
        if isinstance(tree, ast.stmt):
            found = tree
    return found


def _line(node: Any) -> str:
    """The statement in one line; of one with a body, its head."""
    return ast.unparse(node).split('\n')[0].strip()
