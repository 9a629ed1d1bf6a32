"""The command `grade`: its options, its commands (imported when used), its help."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import click

from grader.cli import terminal
from grader.cli.layout import columns, pad, wrap
from grader.cli.parameters import Misused, OneOf, Option, Place
from grader.errors import UsageProblem
from grader.model import Language, Text
from grader.texts import catalog

FIRST: Final = ("list", "start", "check")
STAFF: Final = ("batch", "merge", "diff", "verify", "new", "validate", "schema", "doctor")
_MODULES: Final = {"list": "listing"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What holds for every command."""

    language: Language
    debug: bool
    assignments: Path | None

    def say(self, code: str, **args: Any) -> str:
        return catalog.say(self.language, code, **args)


def desk(ctx: click.Context) -> Desk:
    """The options that stand before or after the command's name; those after it win."""
    folder = ctx.meta.get("grader.assignments") or os.environ.get("GRADE_ASSIGNMENTS")
    return Desk(
        language=ctx.find_root().obj,
        debug=bool(ctx.meta.get("grader.debug")),
        assignments=Path(folder) if folder else None,
    )


def usage(code: str, **args: Any) -> UsageProblem:
    """A `UsageProblem` that can be told in either language."""
    return UsageProblem(catalog.text(f"cli.usage.{code}", **args))


def shared_options(language: Language, *, new: bool = False) -> list[click.Parameter]:
    """The options that every command takes; with `new`, DIR need not be there yet."""
    return [
        Option(
            ["--assignments"],
            type=Place(exists=not new, file_okay=new),
            metavar="DIR",
            help=catalog.say(language, "cli.option.assignments"),
            expose_value=False,
            callback=_keep("grader.assignments"),
        ),
        Option(
            # `language.choose` has already read it: help and errors need it before parsing.
            ["--lang"],
            type=OneOf(["en", "zh"]),
            help=catalog.say(language, "cli.option.lang"),
            expose_value=False,
        ),
        Option(
            ["--debug"],
            is_flag=True,
            help=catalog.say(language, "cli.option.debug"),
            expose_value=False,
            callback=_keep("grader.debug"),
        ),
    ]


def _keep(key: str) -> Any:
    def callback(ctx: click.Context, _param: click.Parameter, value: object) -> None:
        if value:
            ctx.meta[key] = value

    return callback


class Formatter(click.HelpFormatter):
    """Help that is wrapped by columns, so that Chinese fits too."""

    def write_heading(self, heading: str) -> None:
        self.write(" " * self.current_indent + heading + "\n")

    def write_text(self, text: str) -> None:
        indent = " " * self.current_indent
        for line in wrap(text, first=indent, rest=indent, width=self.width):
            self.write(line + "\n")

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 26, col_spacing: int = 2
    ) -> None:
        indent = " " * self.current_indent
        records = list(rows)
        width = min(col_max, max(columns(term) for term, _ in records)) + col_spacing
        for term, meaning in records:
            first = indent + pad(term, width)
            if columns(term) > col_max:
                self.write(indent + term + "\n")
                first = indent + " " * width
            for line in wrap(meaning, first=first, width=self.width):
                self.write(line + "\n")


class Context(click.Context):
    formatter_class = Formatter


class Command(click.Command):
    """A command whose help speaks the user's language."""

    context_class = Context

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        group = isinstance(self, click.Group)
        # Words too many are left over, so that they are refused here and not by click, in English.
        ctx.allow_extra_args = True
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            # The parser knows no context, and that of `grade` would be taken.
            error.ctx = error.ctx or ctx
            raise
        if ctx.args and not group:
            raise Misused(catalog.text("cli.usage.extra", words=[*ctx.args]), ctx)
        return rest

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        pieces = [_piece(ctx, each) for each in self.collect_usage_pieces(ctx)]
        words = " ".join([ctx.command_path, *pieces])
        formatter.write(f"{_say(ctx, 'cli.help.usage', words=words)}\n")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        records = [option.get_help_record(ctx) for option in options]
        with formatter.section(_say(ctx, "cli.help.options")):
            formatter.write_dl([record for record in records if record is not None])

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        option = super().get_help_option(ctx)
        if option is not None:
            option.help = _say(ctx, "cli.option.help")
            option.callback = _print_help
        return option


class Root(Command, click.Group):
    """`grade`: what students use first, the rest for course staff."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return [*FIRST, *STAFF]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in (*FIRST, *STAFF):
            return None
        module = import_module(f"grader.cli.{_MODULES.get(cmd_name, cmd_name)}")
        command: click.Command = module.command(ctx.find_root().obj)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = str(args[0])
        if name.startswith("-") or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        if name.lower().endswith((".py", ".ipynb")):
            raise usage("file_without_command", file=name)
        raise usage("command", name=name, commands=self.list_commands(ctx))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        for heading, names in (("cli.help.first", FIRST), ("cli.help.staff", STAFF)):
            with formatter.section(_say(ctx, heading)):
                formatter.write_dl([(name, _say(ctx, f"cli.{name}.short")) for name in names])


def _print_help(ctx: click.Context, _param: click.Parameter, value: object) -> None:
    # Not by click.echo, which takes an ASCII terminal for a mistake and writes UTF-8 to it.
    if value:
        terminal.show(ctx.get_help().split("\n"))
        ctx.exit()


def _piece(ctx: click.Context, piece: str) -> str:
    """A piece of the usage line; what click calls options and commands in the user's language."""
    codes = {"[OPTIONS]": "cli.help.any_options", "COMMAND [ARGS]...": "cli.help.any_command"}
    return _say(ctx, codes[piece]) if piece in codes else piece


def _say(ctx: click.Context, code: str, **args: str) -> str:
    return catalog.say(ctx.find_root().obj, code, **args)


def root(language: Language) -> Root:
    """The whole command, with help in this language."""
    version = Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_print_version,
        help=catalog.say(language, "cli.option.version"),
    )
    return Root(
        "grade",
        # Which command follows is not known yet; those that search in DIR refuse a missing one.
        params=[version, *shared_options(language, new=True)],
        help=catalog.say(language, "cli.help.grade"),
        epilog=catalog.say(language, "cli.help.more"),
        no_args_is_help=True,
        context_settings={"help_option_names": ["--help", "-h"]},
    )


def _print_version(ctx: click.Context, _param: click.Parameter, value: object) -> None:
    if not value:
        return
    from importlib import metadata

    try:
        installed = metadata.version("torchgrade")
    except metadata.PackageNotFoundError:  # run from a checkout without an installation
        installed = "(not installed)"
    terminal.show([f"torchgrade {installed}"])
    ctx.exit()


def sentence(error: Exception, language: Language) -> str:
    """What the error says, in this language where it can be told in either."""
    told = error.args[0] if error.args else ""
    return told.in_language(language) if isinstance(told, Text) else str(error)
