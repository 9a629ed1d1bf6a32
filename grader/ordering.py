"""From a reading to the order for the judge, and what a student should know of what is missing."""

from itertools import islice

from grader import packages
from grader.assignment import Assignment
from grader.errors import GraderError
from grader.model import Problem, Reading
from grader.reading import attribution
from grader.suite.messages import Order
from grader.texts import catalog

# Names that a file binds again and again; they are for one sentence each.
_MOST_BOUND = 100


def order(reading: Reading, assignment: Assignment, *, seed: int, time_factor: float) -> Order:
    """What the judge has to do for this reading; tests of what is blank or missing need not run.

    Raises:
        GraderError: when the file gave no source.
    """
    if reading.source is None:
        raise GraderError("nothing to run")
    names = [entry.name for entry in assignment.entry_points]
    idle = {*blank(reading, assignment), *undefined(reading, assignment)}
    return Order(
        folder=str(assignment.folder),
        source=reading.source,
        limits=assignment.limits.stretched(time_factor),
        seed=seed,
        places={
            name: reading.definitions[name].place
            for name in names
            if name in reading.definitions and name not in idle
        },
        rebound={
            name: known.rebound
            for name in names
            if (known := reading.definitions.get(name)) is not None and known.rebound is not None
        },
        bound={
            each.name: (*each.earlier, each.place)
            for each in islice((d for d in reading.definitions.values() if d.earlier), _MOST_BOUND)
        },
        skipped=tuple(
            each.id for each in assignment.criteria if not idle.isdisjoint(each.entry_points)
        ),
        diagnose=assignment.hints,
    )


def unlisted(reading: Reading, assignment: Assignment) -> tuple[Problem, ...]:
    """One note on all packages that are installed here and that the course does not name."""
    if assignment.packages is None:
        return ()
    found = packages.unlisted(reading.imports, assignment.packages)
    if not found:
        return ()
    named = ["torch", *(each for each in assignment.packages if each != "torch")]
    code = "reading.unlisted_one" if len(found) == 1 else "reading.unlisted_many"
    message = catalog.text(code, modules=list(found), packages=list(named))
    return (Problem(kind="package", message=message),)


def blank(reading: Reading, assignment: Assignment) -> tuple[str, ...]:
    """The entry points that still hold their placeholder."""
    definitions = (reading.definitions.get(each.name) for each in assignment.entry_points)
    return tuple(each.name for each in definitions if each is not None and each.blank is not None)


def undefined(reading: Reading, assignment: Assignment) -> tuple[str, ...]:
    """The entry points that the file certainly does not define; what is uncertain is run."""
    if reading.open_ended:
        return ()
    names = (entry.name for entry in assignment.entry_points)
    return tuple(name for name in names if name not in reading.definitions)


def missing(reading: Reading, assignment: Assignment) -> tuple[Problem, ...]:
    """What the student should know about functions that are not there."""
    if reading.unreadable:
        return ()
    candidate = attribution.Candidate(
        id=assignment.id,
        entry_points=tuple(entry.name for entry in assignment.entry_points),
        variables=assignment.variables,
        parameters={
            entry.name: tuple(each.name for each in entry.parameters)
            for entry in assignment.entry_points
        },
    )
    filled = attribution.filled_variables(reading, candidate)
    if filled is not None:
        return (filled,)
    if reading.source is None:
        return ()
    unfinished = (
        attribution.not_done(reading.definitions[name], reading, candidate)
        for name in blank(reading, assignment)
    )
    return (
        *(attribution.missing(name, reading) for name in undefined(reading, assignment)),
        *(problem for problem in unfinished if problem is not None),
    )
