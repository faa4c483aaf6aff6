"""Do the tables say what NLTK's reader says?"""

from typing import Any

import numpy as np
import pytest

from shoal.corpus.knowledge.wordnet import Hypernyms, _reader, load_wordnet


def test_the_noun_part_of_wordnet_3_is_whole() -> None:
    wordnet = load_wordnet()
    assert len(wordnet.synsets) == 82115
    roots = np.flatnonzero(wordnet.hypernym < 0)
    assert [wordnet.synsets[root] for root in roots] == ["entity.n.01"]


@pytest.fixture(scope="module")
def reader() -> Any:
    """NLTK's, which takes seconds to load."""
    return _reader(lambda done, total, stage: None)


def test_lemmas_are_those_of_morphy(reader: Any) -> None:
    wordnet = load_wordnet()
    forms = "dogs boxes mice geese glasses cherries buses churches fishermen women analyses qqq running wolves".split()
    forms += wordnet.words[::997] + [f"{word}s" for word in wordnet.words[::997]]
    for form in forms:
        expected = reader.morphy(form, "n")
        # morphy may answer with a word of several parts, which is no term
        assert wordnet.lemma(form) == expected or expected is None or expected not in wordnet.number, form


def test_senses_come_most_frequent_first() -> None:
    wordnet = load_wordnet()
    assert [wordnet.synsets[s] for s in wordnet.senses("java")] == ["java.n.01", "coffee.n.01", "java.n.03"]
    assert wordnet.senses("zzyzx").size == 0


def test_a_synset_stands_under_the_first_hypernym_of_its_line() -> None:
    """Each of these has two. NLTK gives them in the order of a set, another one in every process."""
    wordnet = load_wordnet()
    first = {
        "dog.n.01": "canine.n.02", "ballplayer.n.01": "athlete.n.01", "default.n.01": "absence.n.02",
        "amphibious_landing.n.01": "landing.n.04", "musical_performance.n.01": "performance.n.02",
        "palpation.n.01": "examination.n.01", "groundbreaking.n.01": "ceremony.n.03", "kickoff.n.01": "place_kick.n.01",
    }  # fmt: skip
    above = {name: wordnet.synsets[wordnet.hypernym[i]] for i, name in enumerate(wordnet.synsets) if name in first}
    assert above == first


def test_all_hypernyms_are_those_of_nltk(reader: Any) -> None:
    wordnet = load_wordnet()
    above = wordnet.hypernyms
    for number in range(0, len(wordnet.synsets), 97):
        synset = reader.synset(wordnet.synsets[number])
        expected = {found.name() for found in synset.hypernyms() + synset.instance_hypernyms()}
        assert {wordnet.synsets[v] for v in above.above[above.start[number] : above.start[number + 1]]} == expected


def test_all_that_is_above_a_synset_is_told_once_with_the_fewest_steps() -> None:
    wordnet = load_wordnet()
    above = wordnet.hypernyms.all_above
    part = slice(*above.start[[(dog := wordnet.synsets.index("dog.n.01")), dog + 1]])
    steps = {wordnet.synsets[v]: int(n) for v, n in zip(above.node[part], above.steps[part], strict=True)}
    assert len(steps) == len(above.node[part])
    assert steps["domestic_animal.n.01"] == steps["canine.n.02"] == 1
    assert steps["animal.n.01"] == 2  # by way of domestic animal; 7 by way of canine
    assert [*steps][:: len(steps) - 1] == ["dog.n.01", "entity.n.01"]


def test_a_tree_has_one_path() -> None:
    tree = Hypernyms.of_tree(np.array([-1, 0, 0, 1]))
    assert tree.first.tolist() == [-1, 0, 0, 1]
    assert tree.all_above.node.tolist() == [0, 1, 0, 2, 0, 3, 1, 0]
    assert tree.all_above.steps.tolist() == [0, 0, 1, 0, 1, 0, 1, 2]
