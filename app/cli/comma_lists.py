from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence


def complete_lists(parser: argparse.ArgumentParser, known: Mapping[str, Sequence[str]]) -> None:
    """Tell `shtab` how the arguments of `parser` that are named in `known` are completed."""
    for action in parser._actions:
        if action.dest in known:
            vars(action)["complete"] = _completion(action.dest, " ".join(known[action.dest]))


def _completion(name: str, names: str) -> dict[str, object]:
    function = f"_brokerscope_{name}"
    # Bash gets whole words back: what stands before the last comma goes in front of each.
    bash = (
        f'{function}() {{\n  local before=""\n  [[ $1 == *,* ]] && before="${{1%,*}},"\n'
        f'  compgen -P "$before" -W "{names}" -- "${{1##*,}}"\n}}'
    )
    return {
        "bash": function,
        "zsh": f" _values -s , {name} {names}",
        "tcsh": f"({names})",
        "preamble": {"bash": bash},
    }
