"""Are the settings of an experiment read as they are meant, and refused before anything runs?"""

import pytest

from shoal.anonymizer.parameters import Parameter, number
from shoal.anonymizer.registry import methods
from shoal.corpus.errors import InputError
from shoal.evaluation.experiment import make_experiment
from shoal.evaluation.experiment.settings import default_settings, levels, parse_methods, privacy_parameter


def test_a_comma_list_makes_several_settings() -> None:
    assert [str(s) for s in parse_methods("plain;random:k=3;linkability:p=0.4, 0.2")] == [
        "plain", "random k=3", "linkability p=0.4", "linkability p=0.2",
    ]  # fmt: skip


def test_a_piece_without_a_name_goes_on_with_the_list_before_it() -> None:
    with_commas = parse_methods("clump:k=5,10,r=10,20")
    assert with_commas == parse_methods("clump:k=5,10:r=10,20")
    assert [s.params for s in with_commas] == ["k=5 r=10", "k=5 r=20", "k=10 r=10", "k=10 r=20"]


def test_the_same_setting_is_run_once() -> None:
    assert len(parse_methods("random:k=5;random;random:k=5,5")) == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no method"),
        ("randum:k=3", "the methods are"),
        ("random:q=3", "its parameters are k"),
        ("random:k=1", "whole number from 2"),
        ("random:k=two", "k=two is not allowed"),
        ("random:3", "is no setting"),
        ("random:k=", "is no setting"),
        ("random:k=3:k=4", "twice"),
    ],
)
def test_a_wrong_setting_is_refused_with_what_is_allowed(text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        parse_methods(text)


def test_every_method_has_five_levels_from_little_to_much_privacy() -> None:
    for id, method in methods().items():
        count = sum(setting.method == id for setting in default_settings())
        assert count == (5 if privacy_parameter(method.info.parameters) else 1), id


def test_levels_stay_within_the_range_of_a_parameter() -> None:
    epsilon = Parameter(1.0, number(0.5, 2), "noise", "lower", "epsilon")
    found = levels(epsilon)
    assert len(found) == 5
    assert found == sorted(found, reverse=True)
    assert min(found) >= 0.5
    assert max(found) <= 2


def test_options_and_a_table_of_ranges_make_the_same_experiment() -> None:
    by_text = make_experiment({"corpus": "news", "methods": "random:k=3,5;plain", "seeds": [1]})
    by_table = make_experiment({"corpus": "news", "methods": {"random": {"k": [3, 5]}, "plain": {}}, "seeds": 1})
    assert by_text == by_table
    assert by_text.log == "news"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"corpse": "news"}, "no 'corpse'"),
        ({"corpus": "nws"}, "no corpus 'nws'"),
        ({"log": "nowhere.tsv"}, "no log 'nowhere.tsv'"),
        ({"queries": 0}, "queries=0"),
        ({"queries": True}, "queries=True"),
        ({"seeds": [-1]}, "seeds"),
        ({"engine": "lucene"}, "unknown engine"),
        ({"methods": {"random": 3}}, "methods is"),
        ({"methods": {"random": {"k": [1]}}}, "k=1 is not allowed"),
        ({"measures": ["precisoin"]}, "no measure 'precisoin'"),
    ],
)
def test_a_wrong_experiment_is_refused_before_it_runs(given: dict[str, object], told: str) -> None:
    with pytest.raises(InputError, match=told):
        make_experiment({"corpus": "news", **given})
