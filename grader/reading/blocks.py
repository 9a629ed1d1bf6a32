"""The blocks of a statement that run at top level."""

import ast


def top_level_blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a compound statement, less those that the grader never enters."""
    match statement:
        case ast.If(test=test, body=body, orelse=orelse):
            return [orelse] if never_runs(test) else [body, orelse]
        case ast.For(body=body, orelse=orelse) | ast.AsyncFor(body=body, orelse=orelse):
            return [body, orelse]
        case ast.While(body=body, orelse=orelse):
            return [body, orelse]
        case ast.With(body=body) | ast.AsyncWith(body=body):
            return [body]
        case ast.Try() | ast.TryStar():
            handlers = [handler.body for handler in statement.handlers]
            return [statement.body, *handlers, statement.orelse, statement.finalbody]
        case ast.Match(cases=cases):
            return [case.body for case in cases]
        case _:
            return []


def never_runs(test: ast.expr) -> bool:
    """Whether the grader never enters this branch: `__name__` is not `"__main__"` there."""
    match test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            sides = {ast.unparse(side) for side in (left, right) if _short(side)}
            return sides == {"__name__", "'__main__'"}
        case ast.Constant(value=value):
            return not value
        case _:
            return False


def _short(side: ast.expr) -> bool:
    return isinstance(side, ast.Name | ast.Constant)
