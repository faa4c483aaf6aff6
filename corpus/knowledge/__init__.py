"""What is known besides the log? The taxonomy, senses of words, the dictionary, topic directory, sensitive terms."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from shoal.corpus.errors import InputError
from shoal.corpus.knowledge.directory import SenseDirectory, TopicDirectory, directory_digest, read_directory
from shoal.corpus.knowledge.sensitive import OURS, SensitiveTerms, read_sensitive
from shoal.corpus.knowledge.taxonomy import (
    Dictionary,
    Taxonomy,
    bag_members,
    dictionary,
    is_bag,
    read_taxonomy,
    wordnet_taxonomy,
)
from shoal.corpus.knowledge.wordnet import Hypernyms, load_wordnet
from shoal.corpus.tokens import STOP_WORDS


@dataclass(frozen=True)
class Knowledge:
    """Public background that methods, attackers, search and measures share. Read only when asked for.

    Without a taxonomy file it is WordNet's nouns; without a dictionary, any token where there is a topic directory
    (which was chosen because it knows what the taxonomy does not), else the leaves of the taxonomy; without a topic
    directory, the taxonomy is the directory; without a file of sensitive terms, they are ours, which WordNet lists.
    """

    taxonomy_file: Path | None = None
    dictionary_name: str = ""  # one of DICTIONARIES; empty: what fits the files
    directory_file: Path | None = field(default=None, kw_only=True)
    sensitive_file: Path | None = field(default=None, kw_only=True)

    def refuse_bad_files(self) -> None:
        """Read the files that were named now, so that a bad one is refused before any work is done."""
        if self.taxonomy_file:
            _ = self.taxonomy
        if self.directory_file:
            _ = self.directory
        if self.sensitive_file:
            _ = self.sensitive

    @property
    def dictionary(self) -> str:
        fitting = "any" if self.directory_file else "taxonomy" if self.taxonomy_file else "wordnet"
        return self.dictionary_name or fitting

    @cached_property
    def words(self) -> Dictionary:
        return dictionary(self.dictionary, self.taxonomy if self.taxonomy_file else None)

    @cached_property
    def taxonomy(self) -> Taxonomy:
        return read_taxonomy(self.taxonomy_file) if self.taxonomy_file else wordnet_taxonomy()

    def senses(self, term: str) -> np.ndarray:
        """The ranked senses of a term (synsets of WordNet, or the one leaf of a taxonomy file)."""
        if self.taxonomy_file is None:
            return load_wordnet().senses(term)
        leaf = self.taxonomy.leaf(term)
        return np.array([] if leaf is None else [leaf], dtype=np.int32)

    @cached_property
    def hypernyms(self) -> Hypernyms:
        """What is above each sense: one in a taxonomy file, often several in WordNet."""
        return Hypernyms.of_tree(self.taxonomy.parent) if self.taxonomy_file else load_wordnet().hypernyms

    @property
    def hypernym(self) -> np.ndarray:
        """The first above each sense, -1 at the top."""
        return self.hypernyms.first

    @cached_property
    def directory(self) -> TopicDirectory:
        """The ranked categories of terms: those of a directory file, or the senses of a term and what is above them."""
        if self.directory_file is not None:
            return read_directory(self.directory_file, self.words)
        names = self.taxonomy.labels if self.taxonomy_file else load_wordnet().synsets
        return SenseDirectory(self.senses, self.hypernym, names)

    @cached_property
    def sensitive(self) -> SensitiveTerms:
        """The terms that methods treat as private. Our own list names nodes of WordNet, whatever the taxonomy is."""
        if self.sensitive_file is not None:
            return read_sensitive(self.sensitive_file, self.taxonomy, self.words)
        ours = read_sensitive(OURS, wordnet_taxonomy(), self.words)
        resting_on = f"{ours.digest} {load_wordnet().digest}"  # the words below a node are another WordNet's others
        return SensitiveTerms(ours.terms, hashlib.sha256(resting_on.encode()).hexdigest())

    @cached_property
    def digests(self) -> dict[str, str]:
        """What a release rests on besides its log, by sha-256: the taxonomy, the dictionary, a directory, WordNet.

        A part that nothing here rests on is absent: the directory where there is no file, WordNet where taxonomy and
        dictionary are others.
        """
        parts = {"taxonomy": self.taxonomy.digest, "dictionary": self._dictionary_digest}
        if self.directory_file is not None:
            parts["directory"] = directory_digest(self.directory_file)
        if self.taxonomy_file is None or self.dictionary == "wordnet":
            parts["wordnet"] = load_wordnet().digest
        return parts

    @property
    def _dictionary_digest(self) -> str:
        lemmas = load_wordnet().digest if self.dictionary == "wordnet" else ""
        leaves = self.taxonomy.digest if self.dictionary == "taxonomy" else ""
        content = [self.dictionary, lemmas, leaves, *sorted(STOP_WORDS)]
        return hashlib.sha256("\n".join(content).encode()).hexdigest()

    def stands_for(self, label: str) -> list[str]:
        """The terms that a generalized label stands for: the leaves below it, or the members of a bag a|b|c."""
        if is_bag(label):
            return bag_members(label)
        if label.lower() not in self.taxonomy.node:
            raise InputError(f"{label!r} is not in the taxonomy: give the taxonomy that the release was made with")
        return self.taxonomy.leaves_below(label)
