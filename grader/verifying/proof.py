"""Verifies one assignment: reads it, has every answer judged, and puts the rows together."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from grader import misconceptions
from grader.assignment import Assignment
from grader.explaining import reading
from grader.explaining.rules import Rule
from grader.misconceptions import Misconception
from grader.model import Text
from grader.verifying import answers, mutation, outcomes, papers, stored
from grader.verifying.answers import Answer
from grader.verifying.bench import Bench, Job
from grader.verifying.mutants import Mutant
from grader.verifying.mutation import Equivalent
from grader.verifying.outcomes import Tried
from grader.verifying.records import Check, Marks, Row, Verification
from grader.verifying.rows import failed

ACCEPTED: Final = "gallery/accepted"
MUTANT_SEEDS: Final = 2
_ORDER: Final[tuple[Check, ...]] = Check.__args__  # type: ignore[attr-defined]
_TRIVIAL_SEEDS: Final = (0, 1)


class Progress(Protocol):
    """Told how far a verification is."""

    def begin(self, id: str, total: int) -> None: ...
    def tick(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """How thoroughly to verify, and whether made files are written anew."""

    seeds: int = 5
    mutant_seeds: int = MUTANT_SEEDS
    update: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What an assignment is tried with.

    Args:
        problems: of misconceptions.toml and explanations.toml, and of equivalent_mutants.toml.
    """

    assignment: Assignment
    students: Assignment
    reference: Answer | None
    template: Answer | None
    accepted: tuple[Answer, ...]
    trivial: tuple[Answer, ...]
    wrong: Mapping[str, Answer]
    known: tuple[Misconception, ...]
    mutants: tuple[Mutant, ...]
    equivalents: tuple[Equivalent, ...]
    rules: tuple[Rule, ...] = ()
    problems: tuple[str, ...] = ()
    mutant_problems: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Plan:
    """Jobs under names of their own, judged all together."""

    jobs: dict[tuple[str, str, str], Job] = field(default_factory=dict)

    def add(self, group: str, answer: Answer, **jobs: Job) -> None:
        for kind, job in jobs.items():
            self.jobs[group, answer.name, kind] = job

    def run(self, bench: Bench, tick: Callable[[], None]) -> "_Marks":
        marks = bench.run(list(self.jobs.values()), tick)
        return _Marks(found=dict(zip(self.jobs, marks, strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Marks:
    found: Mapping[tuple[str, str, str], tuple[Marks, ...]]

    def of(self, group: str, name: str) -> Tried:
        single = {
            kind: self.found[group, name, kind][0]
            for kind in ("reverse", "again", "default", "shown")
            if (group, name, kind) in self.found
        }
        return Tried(name=name, seeds=self.found[group, name, "seeds"], **single)


def verify(assignment: Assignment, bench: Bench, wish: Wish, progress: Progress) -> Verification:
    """Everything that can be found out about an assignment.

    Raises:
        GraderError: the grader itself failed.
    """
    with tempfile.TemporaryDirectory(prefix="torchgrade-") as private:
        if wish.update:
            # Before students' files are copied, and before any test reads them.
            values = stored.values(assignment, update=True)
        else:
            fresh_values = bench.beside(partial(stored.values, assignment, update=False))
        material = read(assignment, Path(private))
        before = bench.judged
        rows = paper_rows(material)
        signatures = _signatures(material, bench)
        if wish.update:
            rows += [values, stored.diagnosis(assignment, signatures(), update=True)]
            read(assignment, Path(private))  # the students' copy gets the new file
            bench.renew()
        found = _judged(material, bench, wish, progress)
        if not wish.update:
            rows.append(fresh_values.result())
            rows.append(stored.diagnosis(assignment, signatures(), update=False))
        fresh = signatures()
        pairs = stored.uneven_hints(fresh) if fresh is not None else []
        rows.append(papers.hints(material.known, pairs))
    return _put_together(material, wish, rows, found, bench.judged - before)


def unreadable(name: str, problems: Sequence[str]) -> Verification:
    """What is said of a folder whose assignment.toml or rubric.toml cannot be read."""
    title = Text(code="verify.unreadable", en=name, zh=name)
    return Verification(id=name, title=title, points=0, seeds=0, rows=(failed("rubric", problems),))


# --- reading ---------------------------------------------------------------------------------


def read(assignment: Assignment, private: Path) -> Material:
    """All files of the assignment, understood; a copy for students is made below `private`."""
    folder = assignment.folder
    problems: list[str] = []
    criteria = [each.id for each in assignment.criteria]
    known = misconceptions.read(folder, assignment.id, criteria, problems)
    mutant_problems: list[str] = []
    equivalents = mutation.read_equivalents(folder, mutant_problems)
    wrong = folder / misconceptions.FOLDER
    return Material(
        assignment=assignment,
        students=answers.student_edition(assignment, private),
        reference=_file(folder / "reference.py", assignment),
        template=_file(folder / "template.py", assignment),
        accepted=answers.in_folder(folder / ACCEPTED, assignment),
        trivial=answers.trivial(assignment),
        wrong={
            each.id: answers.in_file(wrong / each.file, assignment)
            for each in known
            if (wrong / each.file).is_file()
        },
        known=known,
        rules=reading.read(folder, assignment.entry_points, known, problems),
        mutants=mutation.made(assignment),
        equivalents=equivalents,
        problems=tuple(problems),
        mutant_problems=tuple(mutant_problems),
    )


def _file(path: Path, assignment: Assignment) -> Answer | None:
    return answers.in_file(path, assignment) if path.is_file() else None


def paper_rows(material: Material) -> list[Row]:
    """What can be said before anything is run."""
    assignment = material.assignment
    rows = [papers.rubric(assignment), papers.translations(assignment)]
    if material.problems:
        return [failed("files", material.problems), *rows]
    return [papers.files(assignment, material.accepted, material.known), *rows]


def _signatures(material: Material, bench: Bench) -> Callable[[], stored.Signatures | None]:
    """The numbers of the misconceptions, asked from a judge beside everything else."""
    gallery = [
        (each, material.wrong[each.id].reading)
        for each in material.known
        if each.id in material.wrong
    ]
    reference = material.reference
    if reference is None or not gallery or not material.assignment.probes:
        return lambda: None
    work = partial(
        stored.signatures_of, material.assignment, reference.reading, gallery, material.rules
    )
    return bench.later(work).result


# --- judging ---------------------------------------------------------------------------------


def _judged(
    material: Material, bench: Bench, wish: Wish, progress: Progress
) -> tuple[_Marks, list[tuple[Marks, ...]]] | None:
    """Marks of every answer and of the mutants; None without a reference that can be judged."""
    if material.reference is None:
        return None
    seeds = tuple(range(wish.seeds))
    plan = _plan(material, material.reference, seeds)
    mutant_jobs = mutation.jobs(
        material.mutants, material.assignment, tuple(range(wish.mutant_seeds))
    )
    for mutant, job in zip(material.mutants, mutant_jobs, strict=True):
        plan.jobs["mutant", mutant.text, "seeds"] = job
    progress.begin(material.assignment.id, len(plan.jobs))
    # A suite that cannot run would fail every job in the same way.
    (first,) = bench.run([Job(reading=material.reference.reading, assignment=material.assignment)])
    if first[0].failure is not None:
        key = ("reference", material.reference.name, "seeds")
        return _Marks(found={key: first}), []
    marks = plan.run(bench, progress.tick)
    return marks, [marks.found["mutant", each.text, "seeds"] for each in material.mutants]


def _plan(material: Material, reference: Answer, seeds: tuple[int, ...]) -> _Plan:
    plan = _Plan()
    whole, alone = material.assignment, material.students

    def job(answer: Answer, **more: object) -> Job:
        arguments = {"assignment": whole, "diagnose": True, **more}
        return Job(reading=answer.reading, **arguments)  # type: ignore[arg-type]

    plan.add(
        "reference",
        reference,
        seeds=job(reference, seeds=seeds),
        reverse=job(reference, reverse=True),
        again=job(reference),
        default=job(reference, capability="default"),
        shown=job(reference, assignment=alone),
    )
    for each in material.accepted:
        plan.add(
            "accepted",
            each,
            seeds=job(each, seeds=seeds),
            reverse=job(each, reverse=True),
            default=job(each, capability="default"),
        )
    for each in material.wrong.values():
        plan.add(
            "wrong",
            each,
            seeds=job(each, seeds=seeds),
            again=job(each),
            default=job(each, capability="default"),
            shown=job(each, assignment=alone),
        )
    for each in material.trivial:
        plan.add("trivial", each, seeds=job(each, seeds=_TRIVIAL_SEEDS, diagnose=False))
        if each.name != answers.BY_SHAPE:
            plan.add("trivial", each, shown=job(each, assignment=alone, diagnose=False))
    if material.template is not None:
        plan.add(
            "template",
            material.template,
            seeds=job(material.template),
            shown=job(material.template, assignment=alone),
        )
    return plan


# --- rows ------------------------------------------------------------------------------------


def _put_together(
    material: Material,
    wish: Wish,
    rows: list[Row],
    found: tuple[_Marks, list[tuple[Marks, ...]]] | None,
    submissions: int,
) -> Verification:
    assignment = material.assignment
    known = Verification(
        id=assignment.id,
        title=assignment.title,
        points=assignment.max_score,
        seeds=wish.seeds,
        rows=(),
        submissions=submissions,
    )
    if found is None or material.reference is None:
        return _with(known, rows)
    marks, mutant_marks = found
    reference = marks.of("reference", material.reference.name)
    rows.append(outcomes.right("reference", [reference]))
    if reference.seeds[0].failure is not None:
        return _with(known, rows)
    wrong = {id: marks.of("wrong", each.name) for id, each in material.wrong.items()}
    rows += _of_answers(material, marks, reference, wrong)
    rows.append(outcomes.suite(_gallery(material, marks, wrong), mutant_marks))
    alive = mutation.survivors(material.mutants, mutant_marks, material.equivalents)
    rows.append(
        mutation.judged(material.mutants, alive, material.equivalents, material.mutant_problems)
    )
    proven = replace(
        known,
        prices=outcomes.prices(wrong, material.known),
        mutants=len(material.mutants),
        survivors=alive,
    )
    return _with(proven, rows)


def _of_answers(
    material: Material, marks: _Marks, reference: Tried, wrong: Mapping[str, Tried]
) -> list[Row]:
    assignment = material.assignment
    accepted = [marks.of("accepted", each.name) for each in material.accepted]
    diagnosed = (assignment.folder / stored.DIAGNOSIS).is_file()
    rows = [
        outcomes.limits(assignment, reference),
        outcomes.right("accepted", accepted),
        outcomes.trivial([marks.of("trivial", each.name) for each in material.trivial]),
        outcomes.misconceptions(wrong, material.known, diagnosed=diagnosed),
        outcomes.shown_tests(assignment, reference.seeds[0], wrong),
        outcomes.determinism([reference, *wrong.values()]),
        outcomes.capability([reference, *accepted, *wrong.values()]),
    ]
    if material.template is not None:
        rows.append(outcomes.template(marks.of("template", material.template.name)))
    return rows


def _gallery(material: Material, marks: _Marks, wrong: Mapping[str, Tried]) -> list[Tried]:
    return [
        *(marks.of("accepted", each.name) for each in material.accepted),
        *wrong.values(),
        *(marks.of("trivial", each.name) for each in material.trivial),
    ]


def _with(known: Verification, rows: Sequence[Row]) -> Verification:
    ordered = sorted(rows, key=lambda each: _ORDER.index(each.check))
    return replace(known, rows=tuple(ordered))
