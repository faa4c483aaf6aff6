"""Does the query grammar read every string, and mean what it says?"""

from hypothesis import given
from hypothesis import strategies as st

from shoal.search.query import ALL, FIELDS, MAX_CLAUSES, TITLE, Clause, parse_query
from tests.examples import examples


def test_words_phrases_and_fields_become_clauses() -> None:
    clauses = parse_query('solar "red wine" title:music title:"the who"')
    assert clauses == (
        Clause(ALL, ("solar",)),
        Clause(ALL, ("red", "wine")),
        Clause(TITLE, ("music",)),
        Clause(TITLE, ("the", "who")),
    )


def test_a_clause_is_written_as_it_is_typed() -> None:
    query = 'solar "red wine" title:music text:"a b"'
    assert " ".join(map(str, parse_query(query))) == query


def test_repetitions_and_stop_words_are_left_out() -> None:
    assert parse_query("the wine of the wine") == (Clause(ALL, ("wine",)),)
    assert parse_query("to be or not to be") == (Clause(ALL, ("to", "be", "or", "not", "to", "be")),)
    assert parse_query("") == ()


def test_a_minus_excludes_the_word_the_phrase_or_the_field_that_it_stands_before() -> None:
    assert parse_query('trump -russia -"white house" -title:music') == (
        Clause(ALL, ("trump",)),
        Clause(ALL, ("russia",), excluded=True),
        Clause(ALL, ("white", "house"), excluded=True),
        Clause(TITLE, ("music",), excluded=True),
    )
    assert " ".join(map(str, parse_query('wine -red -title:"the who"'))) == 'wine -red -title:"the who"'
    for query in ("e-mail", "rock - roll", 'a"b"-c', "-"):
        assert not any(clause.excluded for clause in parse_query(query))
    assert parse_query("the who -tour -of") == (Clause(ALL, ("the", "who")), Clause(ALL, ("tour",), excluded=True))


@examples(150)
@given(st.text(max_size=300) | st.text(alphabet="ab \"title:x'’-", max_size=300))
def test_every_string_is_read_into_a_bounded_number_of_known_clauses(query: str) -> None:
    clauses = parse_query(query)
    assert len(clauses) <= MAX_CLAUSES
    for clause in clauses:
        assert clause.field in FIELDS
        assert clause.words
        assert len(clause.words) <= MAX_CLAUSES
