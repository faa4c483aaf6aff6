"""Are methods found, told apart, and refused when they are none?"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from shoal.anonymizer.base import Method, MethodInfo
from shoal.anonymizer.claims import verifiers
from shoal.anonymizer.methods.everyone import Everyone
from shoal.anonymizer.methods.plain import Plain
from shoal.anonymizer.methods.random import Random
from shoal.anonymizer.parameters import Parameter, group_size, one_of, whole_number
from shoal.anonymizer.registry import collect, find_method, make_method, methods
from shoal.corpus.errors import InputError
from tests.other_package import found_in, install


@pytest.fixture
def entry_point(tmp_path: Path) -> Iterator[Path]:
    """A folder on the path where a package may put its entry points."""
    with found_in(tmp_path, "odd_package"):
        yield tmp_path


def register(folder: Path, value: str, code: str = "") -> None:
    install(folder, "odd_package", code, f"[shoal.anonymizers]\nodd = {value}\n")


def test_the_controls_come_first_and_the_papers_after_them() -> None:
    ids = list(methods())
    assert ids[:5] == ["device", "everyone", "original", "plain", "random"]
    assert "linkability" in ids[5:]
    assert ids[5:] == sorted(ids[5:])


def test_an_unknown_method_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(InputError, match="unknown method 'nothing': the methods are device, everyone, original, plain"):
        find_method("nothing")


def test_a_method_is_made_with_its_settings() -> None:
    assert make_method("random", {"k": "7"}).settings == {"k": 7}
    assert repr(make_method("random", {"k": 7})) == "Random(k=7)"


def test_two_methods_of_one_id_are_an_error() -> None:
    twin = type("Twin", (Random,), {"info": Random.info})
    with pytest.raises(InputError, match="two methods are called 'random'"):
        collect([Plain, Random, twin])


@pytest.mark.parametrize("thing", [Random(), "random", int, Method])
def test_what_is_no_method_is_an_error(thing: object) -> None:
    with pytest.raises(InputError, match=r"is registered as a method but is no anonymizer\.base\.Method"):
        collect([Everyone, thing])  # type: ignore[list-item]


INFO = MethodInfo("toy", "Toy", "", "user", "group", "Who has which profile.", "What the members share.")


def toy(**changes: object) -> type[Method]:
    """A method that is declared well, but for some attributes."""
    return type("Toy", (Everyone,), {"info": INFO, **changes})


@pytest.mark.parametrize(
    "name", ["run", "anonymize", "claim", "settings", "knowledge", "info", "need_users", "__init__"]
)
def test_a_parameter_named_like_an_attribute_is_refused(name: str) -> None:
    changed = toy(**{"info": INFO, name: group_size()})
    with pytest.raises(InputError, match=f"{name}: a method has an attribute|no anonymizer.base.Method with an info"):
        collect([changed])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"info": None}, "with an info"),
        ({"info": "toy"}, "with an info"),
        ({"info": replace(INFO, id="Not An Id")}, "no id: use words-like-this"),
        ({"info": replace(INFO, id="")}, "no id"),
        ({"info": replace(INFO, title=" ")}, "the title is a name"),
        ({"info": replace(INFO, does_not_protect="")}, "does_not_protect is one sentence"),
        ({"info": replace(INFO, unit="people")}, "unit is one of user, query, log"),
        (
            {"info": replace(INFO, family="magic")},
            "family is one of group, generalize, suppress, hash, split",
        ),
        ({"info": replace(INFO, randomness="hidden")}, "randomness is one of public, secret"),
        ({"info": replace(INFO, parameters=(group_size(),))}, "declare each once, as an attribute"),
        ({"k": group_size(1)}, r"parameter k: its default 1 is not allowed: it is a whole number from 2"),
        ({"k": Parameter(5.0, whole_number(2), "how many users", "higher")}, r"default 5\.0 is not allowed"),
        ({"k": Parameter(5, whole_number(9, 2), "how many users", "higher")}, "range is empty, from 9 to 2"),
        ({"k": Parameter("a", one_of(), "how many users", "higher")}, "whole numbers, numbers or words"),
        ({"k": Parameter(5, whole_number(2), " ", "higher")}, "not said what it does"),
        ({"k": Parameter(5, whole_number(2), "how many users", "more")}, "which way is more private"),  # type: ignore[arg-type]
        ({"K": group_size()}, "in lower case"),
        (dict.fromkeys(("k", "l"), group_size()), "declared a second time as l"),
        ({"claim": Method.claim}, "does not say how to claim"),
    ],
)
def test_a_wrong_declaration_is_refused_with_what_is_wrong(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        collect([toy(**changes)])


def test_parameters_come_in_the_order_of_their_declaration_those_of_the_base_first() -> None:
    more = toy(k=group_size(), order=Parameter("up", one_of("up", "down"), "which first", "neither"))
    most = type("Most", (more,), {"info": INFO, "k": group_size(7), "a": group_size(9)})
    assert [(p.name, p.default) for p in most.info.parameters] == [("k", 7), ("order", "up"), ("a", 9)]
    assert collect([most])["toy"]().settings == {"k": 7, "order": "up", "a": 9}


def test_a_duplicate_id_of_another_package_is_an_error(entry_point: Path) -> None:
    register(entry_point, "shoal.anonymizer.methods.random:Random")
    with pytest.raises(InputError, match="two methods are called 'random'"):
        methods()


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("no_such_module:Thing", ""),
        ("odd_package:Missing", ""),
        ("odd_package:Thing", "import no_such_library\n"),
        ("odd_package:Thing", "def broken(:\n"),
    ],
)
def test_a_package_that_cannot_be_loaded_is_named(entry_point: Path, value: str, code: str) -> None:
    register(entry_point, value, code)
    with pytest.raises(InputError, match=r"the method 'odd' \(.*\) cannot be loaded"):
        methods()


def test_a_verifier_that_cannot_be_loaded_is_named(entry_point: Path) -> None:
    install(entry_point, "odd_package", "", "[shoal.claims]\nodd = odd_package:Missing\n")
    with pytest.raises(InputError, match=r"the verifier 'odd' \(.*\) cannot be loaded"):
        verifiers()
