"""What does a method do to five people who search for food? The example of the pictures: its log, its tree, its run."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from shoal.anonymizer.base import Method
from shoal.anonymizer.registry import find_method
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.querylog import QueryLog, make_log
from shoal.notebook import Made, anonymize

# Milani Fard's thesis, Table 3.1 and Figure 3.1, with names for his transactions.
FOOD = {
    "Fruit": ("apple", "orange", "banana"),
    "Meat": ("beef", "chicken"),
    "Dairy": ("milk", "cheese", "butter"),
}
PEOPLE = {
    "Ann": ("orange", "chicken", "beef"),
    "Ben": ("banana", "beef", "cheese"),
    "Cleo": ("chicken", "milk", "butter"),
    "Dan": ("apple", "chicken"),
    "Eve": ("chicken", "beef"),
}
SMALL: dict[str, tuple[int | float, ...]] = {"k": (2,), "t": (2,), "p": (0.6, 2)}  # the first that is allowed
SENSITIVE = "milk"  # to methods that protect some words only
Fate = Literal["typed", "generalized", "gone"]


@dataclass(frozen=True, eq=False)
class Example:
    """A method's run over the five people, or why there is none."""

    method: Method
    made: Made | None
    refused: str = ""

    @property
    def settings(self) -> str:
        """What was set for so few people."""
        return ", ".join(f"{name}={value}" for name, value in small_settings(type(self.method)).items())

    def pseudonyms_of(self, person: str) -> list[int]:
        """The rows of the release that are of a person."""
        if self.made is None:
            return []
        assignment = self.made.assignment
        mine = [name == person for name in assignment.users.to_list()]
        return [int(row) for user, row in zip(assignment.user, assignment.profile, strict=True) if mine[user]]

    def fate(self, person: str, word: str) -> Fate:
        """Whether a word of a person is published as it was typed, more generally, or not at all."""
        labels = {label for row in self.pseudonyms_of(person) for label in self._profile(row)}
        if self.made is not None and not len(self.made.release) and self.made.release.catalogue is not None:
            labels = set(self.made.release.catalogue.terms)
        if word in labels:
            return "typed"
        return "generalized" if any(word in self.stands_for(label) for label in labels) else "gone"

    def fates(self) -> dict[Fate, int]:
        """How many of all words met which fate."""
        met = [self.fate(person, word) for person, words in PEOPLE.items() for word in words]
        return {"typed": met.count("typed"), "generalized": met.count("generalized"), "gone": met.count("gone")}

    def stands_for(self, label: str) -> set[str]:
        """The words that a published label is a general one of."""
        if self.made is None or label not in self._general():
            return set()
        tree = self.method.knowledge.taxonomy
        return {leaf.lower() for part in label.split("|") for leaf in tree.leaves_below(part)} | set(label.split("|"))

    def is_general(self, label: str) -> bool:
        return label in self._general()

    def _general(self) -> set[str]:
        assert self.made is not None
        release = self.made.release
        return {label for label, general in zip(release.labels, release.generalized, strict=True) if general}

    def _profile(self, row: int) -> dict[str, float]:
        assert self.made is not None
        return self.made.release.profile(row)


def small_settings(method: type[Method]) -> dict[str, int | float]:
    """Settings that fit five people; all others are at their defaults."""
    found = {p.name: [v for v in SMALL.get(p.name, ()) if p.allowed.holds(v)] for p in method.info.parameters}
    return {name: values[0] for name, values in found.items() if values}


def food_log() -> QueryLog:
    """Each word is a query of its own, so that methods that publish queries have the same example."""
    pairs = [(person, word) for person, words in PEOPLE.items() for word in words]
    return make_log(pl.Series([person for person, _ in pairs]), pl.Series([word for _, word in pairs]))


def food_tree() -> str:
    """The taxonomy as `shoal anonymize --taxonomy` reads it."""
    groups = [f"{group}\tFood" for group in FOOD]
    return "\n".join(groups + [f"{leaf}\t{group}" for group, leaves in FOOD.items() for leaf in leaves]) + "\n"


def run_example(id: str) -> Example:
    """The release that a method makes of the five people."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "food.tsv"
        path.write_text(food_tree(), encoding="utf-8")
        sensitive = Path(folder) / "sensitive.txt"
        sensitive.write_text(f"{SENSITIVE}\n", encoding="utf-8")
        knowledge = Knowledge(path, sensitive_file=sensitive)
        _ = knowledge.taxonomy, knowledge.words, knowledge.sensitive  # read while the files are there
        method = find_method(id)(knowledge, **small_settings(find_method(id)))
        try:
            return Example(method, anonymize(food_log(), method))
        except InputError as error:
            return Example(method, None, str(error))
