from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence


def complete_lists(parser: argparse.ArgumentParser, known: Mapping[str, Sequence[str]]) -> None:
    """Tell `shtab` how the arguments of `parser` that are named in `known` are completed."""
    for action in parser._actions:
        if action.dest in known:
            names, function = " ".join(known[action.dest]), f"_brokerscope_{action.dest}"
            # Bash gets whole words back: what stands before the last comma goes in front of each.
            bash = (
                f'{function}() {{\n  local before=""\n  [[ $1 == *,* ]] && before="${{1%,*}},"\n'
                f'  compgen -P "$before" -W "{names}" -- "${{1##*,}}"\n}}'
            )
            vars(action)["complete"] = {
                "bash": function,
                "zsh": f" _values -s , {action.dest} {names}",
                "tcsh": f"({names})",
                "preamble": {"bash": bash},
            }
