"""Does any tampering get through? Releases edited as an adversary would, against the literal definition of their claim.

    python -m shoal.anonymizer.contract.tampering --count 5000

A release of which the claim is still true must be accepted, every other one refused; anything else is a fault.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from shoal.anonymizer.base import Method
from shoal.anonymizer.claims import find_verifier
from shoal.anonymizer.contract.edits import Adversary
from shoal.anonymizer.contract.form_edits import EDITS
from shoal.anonymizer.contract.literal import Case, Undecided, definitions
from shoal.anonymizer.contract.literal.folder import Folder, case_of, is_release, is_whole, knowledge_of, read_folder
from shoal.anonymizer.contract.sample_logs import tampering_logs
from shoal.anonymizer.parameters import Value
from shoal.anonymizer.registry import methods
from shoal.anonymizer.release_files import read_release, write_release
from shoal.anonymizer.verify_stored import verify_stored
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog

TRANSPLANT = "transplant"  # another true release of the same log, under the claim of this one
OUTCOMES = ("accepted rightly", "refused rightly", "wrongly accepted", "wrongly refused", "crashed")


@dataclass(frozen=True, eq=False)
class World:
    """A log, what is known besides it, and honest releases of it by one method."""

    log: QueryLog
    knowledge: Knowledge
    method: type[Method]
    honest: list[Folder]


@dataclass(frozen=True)
class Trial:
    """One tampering: what was done, whether the claim is still true, and what was said of it."""

    method: str
    kind: str
    edits: tuple[str, ...]
    wrong: str  # what the definitions find wrong: its form, its counts, its claim, or nothing
    accepted: bool
    said: str
    crashed: bool = False

    @property
    def outcome(self) -> str:
        if self.crashed:
            return "crashed"
        if self.accepted == (not self.wrong):
            return "accepted rightly" if self.accepted else "refused rightly"
        return "wrongly accepted" if self.accepted else "wrongly refused"


@dataclass
class Machine:
    """Makes tampered releases of a method and has them verified, in a folder of its own."""

    worlds: list[World]
    place: Path
    rng: Adversary
    made: int = field(default=0)

    def trials(self, count: int) -> Iterator[Trial]:
        while self.made < count:
            trial = self._trial(self.rng.choice(self.worlds))
            if trial is not None:
                self.made += 1
                yield trial

    def _trial(self, world: World) -> Trial | None:
        _tell(self.rng, world)
        folder = self.rng.choice(world.honest).copy()
        kinds = self.rng.choices([*EDITS, *[TRANSPLANT] * 2], k=self.rng.choice([1, 1, 2]))
        edits = [self._edit(folder, world, kind) for kind in kinds]
        if not all(edits):
            return None
        place = Path(tempfile.mkdtemp(dir=self.place)) / "release"
        folder.write(place)
        sealed = self._seal(folder, world, place)
        try:
            wrong = what_is_wrong(folder, world, place)
        except Undecided:
            return None
        accepted, said, crashed = _verify(place, world)
        return Trial(world.method.info.id, " + ".join(kinds), (*edits, sealed), wrong, accepted, said, crashed)

    def _edit(self, folder: Folder, world: World, kind: str) -> str:
        """Do an edit of a kind; its name, or nothing where it cannot be done."""
        if kind == TRANSPLANT:
            other = self.rng.choice(world.honest).copy()
            folder.profiles, folder.assignment = other.profiles, other.assignment
            folder.queries, folder.catalogue = other.queries, other.catalogue
            folder.manifest["suppressed"] = other.manifest["suppressed"]
            return TRANSPLANT
        edit = self.rng.choice(EDITS[kind])
        try:
            done = edit(folder, self.rng)
        except (KeyError, AttributeError, TypeError, IndexError, ValueError):
            return ""  # an edit before it took away what this one needs
        return "" if done is False else edit.__name__

    def _seal(self, folder: Folder, world: World, place: Path) -> str:
        """Recompute nothing, the digests, all counts too, or profiles too, and write the folder again."""
        how = self.rng.choice(["as it is", "digests", *["digests and counts", "digests, counts and profiles"] * 2])
        if how == "as it is" or not isinstance(folder.manifest, dict):
            return "as it is"
        if "counts" in how:
            _mend(folder, world, place, profiles="profiles" in how)
        if isinstance(folder.manifest.get("digests"), dict):
            knowledge = knowledge_of(folder, place, world.knowledge)
            known = {} if knowledge is None else knowledge.digests
            folder.manifest["digests"].update({**known, **folder.public_digests()})
        for name, content in folder.files().items():
            (place / name).write_bytes(content)
        return how


def _tell(rng: Adversary, world: World) -> None:
    rng.users, rng.queries = world.log.users.to_list(), world.log.queries.to_list()
    rng.terms = build_profiles(world.log, world.knowledge.words).terms


def _mend(folder: Folder, world: World, place: Path, profiles: bool) -> None:
    """Make all counts right, and the profiles what their members or queries ask for, as far as files can be read."""
    try:
        knowledge = knowledge_of(folder, place, world.knowledge) or world.knowledge
        definition = definitions()[folder.manifest["claim"]["id"]]
        if profiles and definition.profile is not None:
            _mend_profiles(folder, case_of(folder, world.log, knowledge), definition.profile)
        case = case_of(folder, world.log, knowledge)
        for row in folder.profiles or []:
            row["users"] = len(case.members[row["id"]])
        suppressed = {"users": len(case.outside), "occurrences": definition.suppressed(case)}
        folder.manifest["suppressed"].update(suppressed)
        folder.manifest.update(users=len(case.typed), groups=len(case.terms))
    except (KeyError, ValueError, TypeError, AttributeError, IndexError, OverflowError):
        return


def _mend_profiles(folder: Folder, case: Case, profile: Callable[[Case, str], Mapping[str, float]]) -> None:
    tree = case.knowledge.taxonomy
    for row in folder.profiles or []:
        row["terms"] = dict(profile(case, row["id"]))
        nodes = {label: tree.node.get(label.lower()) for label in row["terms"]}
        row["generalized"] = [label for label, v in nodes.items() if v is not None and not tree.is_leaf[v]]


def what_is_wrong(folder: Folder, world: World, place: Path) -> str:
    """By the definitions alone: "form" (the folder is no release), "counts", "claim", or nothing: the claim is true.

    Of a claim that has no definition, only what is wrong with its form and its counts of users can be told.
    """
    knowledge = knowledge_of(folder, place, world.knowledge)
    known = {**methods(), world.method.info.id: world.method}
    if knowledge is None or not is_release(folder, known, world.log, knowledge):
        return "form"
    claim = folder.manifest["claim"]["id"]
    definition, case = definitions().get(claim), case_of(folder, world.log, knowledge)
    if not is_whole(folder, case, sessions=find_verifier(claim).unit == "session"):
        return "counts"
    if definition is None:
        raise Undecided
    if definition.suppressed(case) != folder.manifest["suppressed"]["occurrences"]:
        return "counts"
    return "" if definition.holds(case) else "claim"


def _verify(place: Path, world: World) -> tuple[bool, str, bool]:
    """What the program says: accepted or not, why, and whether it crashed."""
    try:
        known = Knowledge(sensitive_file=world.knowledge.sensitive_file)
        verdict = verify_stored(read_release(place, known, world.method), world.log)
    except InputError as error:
        return False, str(error), "\n" in str(error)
    except Exception as error:  # whatever it is, no release may bring it about
        return False, repr(error), True
    return verdict.holds, verdict.counterexample or verdict.sentence, False


def machine_for(method: type[Method], place: Path, seed: int = 0, everything: bool = False) -> Machine | None:
    """A machine with honest releases of a method; none where its settings make none of these logs.

    `everything`: with each word of each parameter, on all logs; otherwise with the defaults on one.
    """
    logs = tampering_logs(place)
    worlds = []
    for number, (log, knowledge) in enumerate(logs if everything else logs[:1]):
        honest = list(_honest(method, log, knowledge, place / f"{method.info.id}-{number}", everything))
        if honest:
            worlds.append(World(log, knowledge, method, honest))
    return Machine(worlds, place, Adversary(seed)) if worlds else None


def _honest(
    method: type[Method], log: QueryLog, knowledge: Knowledge, place: Path, everything: bool
) -> Iterator[Folder]:
    for number, given in enumerate(_settings(method, everything)):
        for seed in (0, 1):
            folder = place.with_name(f"{place.name}-{number}-{seed}")
            try:
                made_by = method(knowledge, **given)
                write_release(folder, made_by.run(log, seed=seed), made_by, log, seed)
            except InputError:
                continue  # too few users for such settings, or settings that do not go together
            yield read_folder(folder)


_SMALL = {"k": 3, "t": 2, "per_user": 1, "delta": 0.1}


def _settings(method: type[Method], everything: bool) -> list[dict[str, Value]]:
    """The defaults, and small ones; besides with each word of each parameter, or a number in its place."""
    parameters = method.info.parameters
    small: dict[str, Value] = {p.name: _SMALL[p.name] for p in parameters if p.name in _SMALL}
    sizes: list[dict[str, Value]] = [{}, small] if small else [{}]
    words: list[dict[str, Value]] = [{p.name: word} for p in parameters for word in p.allowed.words]
    words += [
        {p.name: p.allowed.kind(p.allowed.low)} for p in parameters if isinstance(p.default, str) and p.allowed.low
    ]
    return [*sizes, *({**size, **word} for size in sizes for word in words if everything)]


def run(count: int, seed: int = 0, only: Iterable[str] = ()) -> list[Trial]:
    """So many tamperings, shared out among all methods (or some)."""
    chosen = [method for id, method in methods().items() if not only or id in set(only)]
    trials: list[Trial] = []
    for number, method in enumerate(chosen):
        with tempfile.TemporaryDirectory() as place:
            machine = machine_for(method, Path(place), seed + number, everything=True)
            if machine is not None:
                share = count // len(chosen) + (number < count % len(chosen))
                trials += machine.trials(share)
    return trials


def table(trials: list[Trial]) -> str:
    """Per method and kind: how many were made, what came of them, and how many were wrong in their claim alone."""
    rows: dict[tuple[str, str], Counter[str]] = {}
    for trial in trials:
        kind = "pairs" if " + " in trial.kind else trial.kind
        for key in ((trial.method, kind), (trial.method, "all"), ("all", kind), ("all", "all")):
            rows.setdefault(key, Counter()).update(
                [trial.outcome, *(["false claim"] if trial.wrong == "claim" else [])]
            )
    columns = (*OUTCOMES, "false claim")
    lines = [f"{'method':<18}{'kind':<14}{'made':>6}" + "".join(f"{name:>18}" for name in columns)]
    for (method, kind), found in sorted(rows.items(), key=lambda item: (item[0][0] == "all", item[0])):
        made = found.total() - found["false claim"]
        lines.append(f"{method:<18}{kind:<14}{made:>6}" + "".join(f"{found[name]:>18}" for name in columns))
    return "\n".join(lines)


def faults(trials: list[Trial]) -> list[Trial]:
    return [trial for trial in trials if not trial.outcome.endswith("rightly")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--method", action="append", default=[])
    options = parser.parse_args()
    trials = run(options.count, options.seed, options.method)
    print(table(trials))
    for trial in faults(trials):
        print(f"{trial.outcome}: {trial.method}, {', '.join(trial.edits)}: {trial.said}")
    return min(len(faults(trials)), 99)


if __name__ == "__main__":
    raise SystemExit(main())
