"""How is a word typed that no document holds? Two words as one, a slip of the finger, or a number behind it."""

import numpy as np
import polars as pl

PLAIN, COMPOUND, MISSPELT, NUMBERED = 0, 1, 2, 3
NUMBERS = 10_000
_DROPPED, _DOUBLED = 0, 1
_PLACES = 64


def slip(choice: np.ndarray, letters: np.ndarray) -> np.ndarray:
    """A slip for a word with this many letters, fixed by a number: what happens (three kinds), and at which letter."""
    inner = np.maximum(letters - 2, 1)
    return (choice % 3) * _PLACES + 1 + choice // 3 % inner


def written(words: pl.Series, word: np.ndarray, kind: np.ndarray, extra: np.ndarray) -> pl.Series:
    """The words as typed: as they are, run together with the word `extra`, with that slip, or that number."""
    typed = (
        words.gather(word)
        .to_frame("word")
        .with_columns(
            kind=pl.Series(kind),
            extra=pl.Series(extra.astype(np.int64)),
            other=words.gather(np.where(kind == COMPOUND, extra, 0)),
        )
    )
    return typed.select(
        pl.when(pl.col("kind") == COMPOUND)
        .then(pl.col("word") + pl.col("other"))
        .when(pl.col("kind") == MISSPELT)
        .then(_misspelt())
        .when(pl.col("kind") == NUMBERED)
        .then(pl.col("word") + pl.col("extra").cast(pl.String))
        .otherwise(pl.col("word"))
        .alias("typed")
    ).to_series()


def _misspelt() -> pl.Expr:
    """A letter left out, typed twice, or swapped with the next one."""
    word, place, what = pl.col("word"), pl.col("extra") % _PLACES, pl.col("extra") // _PLACES
    before, after = word.str.slice(0, place), word.str.slice(place + 1)
    swapped = before + word.str.slice(place + 1, 1) + word.str.slice(place, 1) + word.str.slice(place + 2)
    return (
        pl.when(what == _DROPPED)
        .then(before + after)
        .when(what == _DOUBLED)
        .then(word.str.slice(0, place + 1) + word.str.slice(place))
        .otherwise(swapped)
    )
