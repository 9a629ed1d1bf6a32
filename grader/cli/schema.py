"""`grade schema`: the JSON Schemas of our formats."""

import json
from typing import Any

import click

from grader.cli import terminal
from grader.cli.parameters import OneOf, Option
from grader.cli.root import Command, shared_options
from grader.model import Language
from grader.texts import catalog


def command(language: Language) -> click.Command:
    consumer = Option(
        ["--consumer"], is_flag=True, help=catalog.say(language, "cli.schema.consumer")
    )
    return Command(
        "schema",
        callback=_run,
        params=[
            click.Argument(["kind"], type=OneOf(["report", "rubric", "assignment", "run"])),
            consumer,
            *shared_options(language),
        ],
        help=catalog.say(language, "cli.schema.help"),
    )


def _run(kind: Any, *, consumer: bool) -> None:
    from grader.validation import schema

    terminal.emit(json.dumps(schema(kind, consumer=consumer), indent=2) + "\n")
