# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The mutants of modules, by mutmut's operators; for mutants.py, which runs the tests on them.

mutmut's own runner copies the sources and measures the whole suite before it begins, an hour here.
It has an environment of its own, .venv-net, because the product does not need it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
import json
from pathlib import Path
import sys

import libcst as cst
from mutmut.mutation.file_mutation import create_mutations, Mutation

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / 'overlay_ws/src/curiosity_rosa_demo/curiosity_rosa_demo'
MAX_TEXT = 110
# Texts and logging decide nothing.
TEXTS = (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString)


def one_line(module: cst.Module, node: cst.CSTNode) -> str:
    return ' '.join(module.code_for_node(node).split())[:MAX_TEXT]


def functions(module: cst.Module) -> Iterator[tuple[str, cst.FunctionDef]]:
    """Top-level functions and methods, with their names."""
    for each in module.body:
        if isinstance(each, cst.FunctionDef):
            yield each.name.value, each
        elif isinstance(each, cst.ClassDef):
            for method in each.body.body:
                if isinstance(method, cst.FunctionDef):
                    yield f'{each.name.value}.{method.name.value}', method


def mutants(file: str) -> Iterator[tuple[str, Callable[[], str]]]:
    """Function, text before and after, a number where they are the same twice; and the source."""
    module, found, _, _ = create_mutations(file, (PACKAGE / file).read_text(encoding='utf-8'))
    names = {id(function): name for name, function in functions(module)}
    seen: Counter[str] = Counter()
    for each in found:
        function = each.contained_by_top_level_function
        if not isinstance(function, cst.FunctionDef) or isinstance(each.original_node, TEXTS):
            continue
        before, after = (
            one_line(module, node) for node in (each.original_node, each.mutated_node)
        )
        if before.startswith('_log.'):
            continue
        name = f'{names.get(id(function), function.name.value)}: {before} -> {after}'
        seen[name] += 1
        if seen[name] > 1:
            name += f' #{seen[name]}'
        yield name, partial(changed, module, each)


def changed(module: cst.Module, mutation: Mutation) -> str:
    mutated = module.deep_replace(mutation.original_node, mutation.mutated_node)
    assert isinstance(mutated, cst.Module)
    return mutated.code


def main() -> None:
    """Input: {file: names}, or {file: null} for all. Output: [file, name, source or null]."""
    for file, wanted in json.load(sys.stdin).items():
        for name, source in mutants(file):
            if wanted is None or name in wanted:
                print(json.dumps([file, name, None if wanted is None else source()]))


if __name__ == '__main__':
    main()
