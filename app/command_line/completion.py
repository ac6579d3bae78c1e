"""`brokerscope completion bash`: what a shell needs to complete our commands."""

from __future__ import annotations

import argparse
import sys

import shtab

from app.command_line.verbs import Command


def command() -> Command:
    """The parser of the command, and what runs it."""
    parser = argparse.ArgumentParser(
        prog="brokerscope completion",
        description="Print a completion script.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog='bash:  eval "$(brokerscope completion bash)"\n'
        "zsh:   brokerscope completion zsh > ~/.zfunc/_brokerscope\n"
        "tcsh:  brokerscope completion tcsh > ~/.brokerscope.csh; source ~/.brokerscope.csh",
    )
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"))

    def run(options: argparse.Namespace) -> int:
        from app.cli import COMMANDS
        from app.command_line.catalogue import whole_parser

        sys.stdout.write(shtab.complete(whole_parser(COMMANDS), shell=options.shell))
        return 0

    return parser, run
