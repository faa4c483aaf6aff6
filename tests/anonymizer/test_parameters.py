"""Are settings checked as their parameters say?"""

from typing import ClassVar

import pytest

from shoal.anonymizer.parameters import Parameter, Value, check_settings, group_size, number, one_of, whole_number
from shoal.corpus.errors import InputError


class Toy:
    k = group_size()
    p = Parameter(0.4, number(0.001, 1), "a probability", "lower")
    order = Parameter("up", one_of("up", "down"), "which first", "neither")
    r = Parameter(10, whole_number(1) | one_of("all"), "how many", "neither")

    settings: ClassVar[dict[str, Value]] = {"k": 7, "p": 0.5, "order": "down", "r": "all"}


SHARE, CHOICE, EITHER = Toy.p, Toy.order, Toy.r


@pytest.mark.parametrize(("given", "value"), [(5, 5), ("5", 5), (5.0, 5), ("5.0", 5), (2, 2), (10**6, 10**6)])
def test_whole_numbers_come_as_numbers_or_text(given: object, value: int) -> None:
    checked = Toy.k.check(given)
    assert checked == value
    assert type(checked) is int


@pytest.mark.parametrize("given", [1, 0, -5, "1", 1.5, "2.5", "five", "", None, True, [5], float("nan"), "inf", 10**7])
def test_what_is_no_whole_number_in_range_is_refused(given: object) -> None:
    with pytest.raises(InputError, match=r"k=.* is not allowed: k is a whole number from 2 to 1,000,000 \(default 5\)"):
        Toy.k.check(given)


@pytest.mark.parametrize("given", [0, 1.1, -0.4, "nan", "inf", "-inf", "1e999", "half"])
def test_what_is_no_number_in_range_is_refused(given: object) -> None:
    with pytest.raises(InputError, match=r"from 0\.001 to 1"):
        SHARE.check(given)


def test_words_are_taken_as_they_are_and_others_refused_with_the_list() -> None:
    assert CHOICE.check("down") == "down"
    with pytest.raises(InputError, match=r"up \| down"):
        CHOICE.check("sideways")
    with pytest.raises(InputError, match=r"up \| down"):
        CHOICE.check(3)


def test_a_number_may_have_words_besides() -> None:
    assert EITHER.check("all") == "all"
    assert EITHER.check("3") == 3
    with pytest.raises(InputError, match="whole number from 1 or all"):
        EITHER.check("none")


def test_settings_not_given_take_their_defaults() -> None:
    assert check_settings("toy", (SHARE, CHOICE), {"p": "0.2"}) == {"p": 0.2, "order": "up"}


def test_an_unknown_name_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(InputError, match="toy has no parameter 'q': its parameters are p, order"):
        check_settings("toy", (SHARE, CHOICE), {"q": 1})
    with pytest.raises(InputError, match="its parameters are none"):
        check_settings("toy", (), {"q": 1})


def test_a_parameter_is_itself_in_the_class_and_its_value_in_a_method() -> None:
    toy = Toy()
    assert (toy.k, toy.p, toy.order, toy.r) == (7, 0.5, "down", "all")
    assert [parameter.name for parameter in (Toy.k, Toy.p, Toy.order, Toy.r)] == ["k", "p", "order", "r"]


@pytest.mark.parametrize("value", ["5", 5.0, True, None, float("nan"), 10**400, "all "])
def test_a_stored_value_is_of_its_very_type(value: object) -> None:
    assert not Toy.k.allowed.holds(value)
    assert not Toy.r.allowed.holds(value)
    assert Toy.k.allowed.holds(5)
    assert Toy.r.allowed.holds("all")
    assert Toy.p.allowed.holds(1)
