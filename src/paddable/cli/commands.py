"""The commands, by name. A command's module is imported when it is run: ``paddable --help`` has nothing to wait for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

__all__ = ["COMMANDS", "Commands"]

COMMANDS = {
    "check": "Find where padding would leak into the answer.",
    "convert": "Write a fixed-shape model that gives the same answer at every length.",
    "export": "Make a bundle from a checkpoint of a known family.",
    "verify": "Judge a padded model or bundle against native.",
    "probe": "Find the first node at which two runs part, and say why.",
    "lint": "Find what will break, slow down or silently change a graph.",
    "inspect": "Print inputs, lengths, operators, and what to run next.",
    "transcribe": "Recognise recordings.",
    "decode": "Decode a file of codes to sound.",
    "bench": "Measure a bundle here: containers beside native.",
    "demo": "Convert a published speech recogniser and show the difference.",
    "doctor": "Show what can run here, or explain an error.",
}
"""Each command with the line that ``paddable --help`` shows. It is found in ``paddable.cli.<name>``."""


class Commands(click.Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of a project's work."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, None where there is none."""
        if cmd_name not in COMMANDS:
            return None
        found: Any = getattr(import_module(f"paddable.cli.{cmd_name}"), cmd_name)
        return found if isinstance(found, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the words begin with; one that is not there is told with those that are spelt alike."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            alike = get_close_matches(args[0], COMMANDS)
            meant = f" Did you mean {' or '.join(repr(name) for name in alike)}?" if alike else ""
            raise click.UsageError(f"{error.format_message()}{meant}", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list under ``--help``, from the table above."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))
