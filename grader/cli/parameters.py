"""Options and values of the command line that are explained and refused in both languages."""

import os
from typing import Any

import click

from grader.model import Language, Text
from grader.texts import catalog


class Misused(click.UsageError):
    """A command line that cannot be understood, told in both languages."""

    def __init__(self, text: Text, ctx: click.Context | None) -> None:
        super().__init__(text.en, ctx)
        self.text = text


class BadValue(click.BadParameter):
    """A value that a parameter does not take, told in both languages."""

    def __init__(
        self, text: Text, ctx: click.Context | None, param: click.Parameter | None
    ) -> None:
        super().__init__(text.en, ctx, param)
        self.text = text


class Option(click.Option):
    """An option whose help says in the user's language what is required of it."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        record = super().get_help_record(ctx)
        language: Language = ctx.find_root().obj
        if record is None or language == "en":
            return record
        notes = "".join(f"（{note}）" for note in self._notes(language))
        return record[0], f"{self.help or ''}{notes}"

    def _notes(self, language: Language) -> list[str]:
        """What click itself would add in English: `[required]`, `[x>=1]`."""
        notes = [catalog.say(language, "cli.help.required")] if self.required else []
        if isinstance(self.type, AtLeast):
            notes.append(catalog.say(language, "cli.help.at_least", least=self.type.least))
        return notes


class Place(click.Path):
    """A file or folder; what is wrong with it is told in both languages."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            text = catalog.text(f"cli.value.{self._refusal(value)}", value=os.fspath(value))
            raise BadValue(text, ctx, param) from error

    def _refusal(self, value: Any) -> str:
        if not os.path.exists(value):  # noqa: PTH110 - as typed, maybe no Path
            kind = "file" if not self.dir_okay else "folder" if not self.file_okay else "path"
            return f"no_{kind}"
        if not self.file_okay and os.path.isfile(value):  # noqa: PTH113
            return "is_file"
        if not self.dir_okay and os.path.isdir(value):  # noqa: PTH112
            return "is_folder"
        return "unreadable"


class OneOf(click.Choice[str]):
    """One of some words; another one is refused in both languages."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            text = catalog.text("cli.value.choice", value=str(value), choices=[*self.choices])
            raise BadValue(text, ctx, param) from error


class AtLeast(click.IntRange):
    """A whole number of at least so much; anything else is refused in both languages."""

    def __init__(self, least: int) -> None:
        super().__init__(min=least)
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            text = catalog.text("cli.value.at_least", value=str(value), least=self.least)
            raise BadValue(text, ctx, param) from error
