"""Is a release a part of a PyTerrier experiment? The one of the module's own example, and the order of our search."""

import doctest
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import ir_measures
import pandas
import pytest

import shoal
import shoal.pyterrier
from shoal.corpora import Corpus
from shoal.notebook import Made
from shoal.pyterrier import Reranker, Retriever

TOPICS = pandas.DataFrame({"qid": ["1", "2"], "query": ["kitchen dinner", "fish market"]})


@pytest.fixture(scope="module")
def documents(corpus_file: Path) -> Corpus:
    return shoal.open_corpus(corpus_file)


@pytest.fixture(scope="module")
def made(log_file: Path) -> Made:
    return shoal.anonymize(shoal.read_log(log_file), "random", k=4)


@pytest.fixture(scope="module")
def qrels(documents: Corpus) -> pandas.DataFrame:
    """Whatever is of bread is relevant."""
    bread = [document for document in documents.places if int(document[1:]) % 4 == 1]
    return pandas.DataFrame([(qid, docno, 1) for qid in "12" for docno in bread], columns=["qid", "docno", "label"])


def test_the_experiment_of_the_example_runs(documents: Corpus, made: Made, qrels: pandas.DataFrame) -> None:
    names = {**vars(shoal.pyterrier), "documents": documents, "made": made, "qrels": qrels}
    examples = doctest.DocTestParser().get_doctest(shoal.pyterrier.__doc__ or "", names, "pyterrier", None, None)
    assert len(examples.examples) == 6
    runner = doctest.DocTestRunner()
    runner.run(examples, clear_globs=False)
    assert runner.failures == 0
    table: Any = examples.globs["table"]
    assert table["P_10"].between(0, 1).all()
    assert table["P_10"].nunique() == 2


def test_both_rank_as_search_does(documents: Corpus, made: Made, qrels: pandas.DataFrame) -> None:
    found = Retriever(documents).transform(TOPICS)
    for weight in (None, 0.3, 1.0):
        ranked = Reranker(made, "user-1", documents, weight).transform(found)
        ours = documents.run(dict(TOPICS.values), lambda topic: made.profile_of("user-1"), weight=weight).frame()
        for column in ("qid", "docno"):
            assert ranked[column].to_list() == ours[column].to_list()
        assert ranked["score"].to_list() == pytest.approx(ours["score"].to_list())
        assert ranked["rank"].to_list() == [*range(100)] * 2
    plain = documents.run(dict(TOPICS.values)).frame()
    assert found["docno"].to_list() == plain["docno"].to_list()


def test_an_experiment_measures_what_ir_measures_does(
    documents: Corpus, made: Made, qrels: pandas.DataFrame, tmp_path: Path
) -> None:
    import pyterrier

    pipeline = Retriever(documents) >> Reranker(made, "user-1", documents, weight=1)
    measures = [ir_measures.nDCG @ 10, ir_measures.RR]
    table = pyterrier.Experiment([pipeline], TOPICS, qrels, measures)
    documents.run(dict(TOPICS.values), lambda topic: made.profile_of("user-1"), weight=1).save(tmp_path / "run")
    judged = [ir_measures.Qrel(*row) for row in qrels.values.tolist()]
    found = ir_measures.calc_aggregate(measures, judged, ir_measures.read_trec_run(str(tmp_path / "run")))
    assert {str(name): value for name, value in found.items()} == pytest.approx(
        {str(name): table[str(name)][0] for name in measures}, abs=1e-9
    )


def test_every_topic_may_have_a_user_of_its_own(documents: Corpus, made: Made, tmp_path: Path) -> None:
    made.save(tmp_path / "release")
    asked = TOPICS.assign(user=["user-1", "user-2"])
    both = (Retriever(documents, 50) >> Reranker(tmp_path / "release", corpus=documents)).transform(asked)
    alone = Reranker(made, "user-2", documents).transform(Retriever(documents, 50).transform(TOPICS))
    assert both[both["qid"] == "2"]["docno"].to_list() == alone[alone["qid"] == "2"]["docno"].to_list()
    assert both["user"].to_list() == ["user-1"] * 50 + ["user-2"] * 50


def test_documents_from_elsewhere_are_ranked_by_their_texts(made: Made) -> None:
    words = ["bread flour dinner", "wine grape dinner", "fish river dinner", "cheese milk dinner"]
    frame = pandas.DataFrame(
        {"qid": "7", "query": "dinner", "docno": list("abcd"), "score": [1.0, 2.0, 3.0, 4.0], "text": words}
    )
    profile = made.profile_of("user-1")
    ranked = Reranker(made, "user-1", weight=1).transform(frame)
    same = shoal.open_corpus(frame[["docno", "text"]].rename(columns={"docno": "id"}).assign(title=""))
    assert ranked["docno"][0] == same.search("dinner", profile, weight=1).results[0].id == "a"
    assert sorted(ranked["docno"]) == list("abcd")
    assert ranked["score"].is_monotonic_decreasing


def test_frames_that_do_not_fit_are_refused_by_their_columns(documents: Corpus, made: Made) -> None:
    with pytest.raises(KeyError, match="query"):
        Retriever(documents).transform(TOPICS[["qid"]])
    with pytest.raises(KeyError, match="user"):
        Reranker(made, corpus=documents).transform(Retriever(documents, 5).transform(TOPICS))
    unknown = pandas.DataFrame({"qid": ["1"], "query": ["wine"], "docno": ["nowhere"], "score": [1.0], "rank": [0]})
    with pytest.raises(shoal.InputError, match="no document 'nowhere'"):
        Reranker(made, "user-1", documents).transform(unknown)
    assert len(Retriever(documents).transform(TOPICS.head(0))) == 0


def test_without_pyterrier_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyterrier", None)  # type: ignore[arg-type]
    monkeypatch.delitem(sys.modules, "shoal.pyterrier")
    with pytest.raises(shoal.InputError, match="pip install 'shoal-search\\[pyterrier\\]'"):
        import_module("shoal.pyterrier")
