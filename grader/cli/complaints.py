"""What is wrong with a command line as typed, in the user's language.

What click itself says is English: for Chinese each of its errors has a sentence of our own,
chosen by its class and never by its words, which differ between versions.
"""

import click

from grader.cli.parameters import BadValue, Misused
from grader.model import Language
from grader.texts import catalog


def complaint(error: click.UsageError, language: Language) -> str:
    """What was wrong with the command line as typed, and where its help is."""
    path = error.ctx.command_path if error.ctx else "grade"
    return f"{_sentence(error, language)}\n" + catalog.say(language, "cli.usage.help", path=path)


def _sentence(error: click.UsageError, language: Language) -> str:
    if isinstance(error, Misused):
        return error.text.in_language(language)
    if language == "en":
        return error.format_message()
    match error:
        case click.NoSuchOption():
            return _no_such_option(error, language)
        case click.BadOptionUsage():
            return _option_misused(error, language)
        case click.MissingParameter() if error.param is not None:
            return catalog.say(language, "cli.usage.missing", name=_name(error.param, error.ctx))
        case BadValue(param=click.Option() as option):
            problem = error.text.in_language(language)
            name = _name(option, error.ctx)
            return catalog.say(language, "cli.usage.bad_value", name=name, problem=problem)
        case BadValue():
            return error.text.in_language(language)
        case click.UsageError(ctx=click.Context(command=click.Group())):
            return catalog.say(language, "cli.usage.no_command")
    return error.format_message()


def _no_such_option(error: click.NoSuchOption, language: Language) -> str:
    said = catalog.say(language, "cli.usage.no_such_option", name=error.option_name)
    if not error.possibilities:
        return said
    close = catalog.say(language, "cli.usage.meant", names=sorted(error.possibilities))
    return said + close


def _option_misused(error: click.BadOptionUsage, language: Language) -> str:
    """A flag with a value, or another option without one."""
    params = error.ctx.command.params if error.ctx else []
    flag = any(
        isinstance(each, click.Option) and each.is_flag and error.option_name in each.opts
        for each in params
    )
    code = "takes_no_value" if flag else "takes_a_value"
    return catalog.say(language, f"cli.usage.{code}", name=error.option_name)


def _name(param: click.Parameter, ctx: click.Context | None) -> str:
    """`--out`, `--jobs`; of an argument what the usage line calls it, without its dots."""
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return param.make_metavar(ctx).rstrip(".") if ctx else str(param.name)
