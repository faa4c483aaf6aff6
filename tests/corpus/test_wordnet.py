"""Do the tables say what NLTK's reader says?"""

import numpy as np

from corpus.wordnet import _reader, load_wordnet


def test_the_noun_part_of_wordnet_3_is_whole() -> None:
    wordnet = load_wordnet()
    assert len(wordnet.synsets) == 82115
    roots = np.flatnonzero(wordnet.hypernym < 0)
    assert [wordnet.synsets[root] for root in roots] == ["entity.n.01"]


def test_lemmas_are_those_of_morphy() -> None:
    reader = _reader(lambda done, total, stage: None)
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
