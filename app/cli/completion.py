from __future__ import annotations

import argparse
import sys

import shtab

from app.cli.parser import Command, arguments, described

_SCENARIOS = "_brokerscope_scenarios"
_FOLDERS = ("DIR", "SESSION_DIR", "OUT")
_FILES = ("FILE", "OUT.png")


def command() -> Command:
    parser = described(
        "completion",
        epilog='bash:  eval "$(brokerscope completion bash)"\n'
        "zsh:   brokerscope completion zsh > ~/.zfunc/_brokerscope\n"
        "tcsh:  brokerscope completion tcsh > ~/.brokerscope.csh; source ~/.brokerscope.csh",
    )
    arguments(parser, "completion")

    def run(options: argparse.Namespace) -> int:
        from app.cli.commands import whole_parser
        from app.cli.main import COMMANDS

        whole = whole_parser(COMMANDS)
        _complete_places(whole)
        sys.stdout.write(shtab.complete(whole, shell=options.shell))
        return 0

    return parser, run


def _complete_places(parser: argparse.ArgumentParser) -> None:
    for action in parser._actions:
        if action.metavar == "SCENARIO":
            vars(action)["complete"] = _scenarios()
        elif action.metavar in _FOLDERS:
            vars(action)["complete"] = shtab.DIRECTORY
        elif action.metavar in _FILES:
            vars(action)["complete"] = shtab.FILE
        for inner in action.choices.values() if isinstance(action.choices, dict) else ():
            _complete_places(inner)


def _scenarios() -> dict[str, object]:
    from app.environment.paths import shipped_scenarios

    names = " ".join(path.stem for path in shipped_scenarios())
    bash = f'{_SCENARIOS}() {{\n  compgen -W "{names}" -- "$1"\n  _shtab_compgen_files "$1"\n}}'
    zsh = f"{_SCENARIOS}() {{\n  _alternative 'names:scenario:({names})' 'files:file:_files'\n}}"
    return {"bash": _SCENARIOS, "zsh": _SCENARIOS, "tcsh": f"({names})", "preamble": {"bash": bash, "zsh": zsh}}
