"""What does document i say? Titles, texts, addresses and dates by position, read from mapped files."""

import mmap
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from shoal.corpus.documents import Document, Documents

COLUMNS = ("id", "title", "text", "url", "date")


class StringColumn:
    """Strings in one file, read one at a time: string i is the UTF-8 bytes start[i]:start[i + 1]."""

    def __init__(self, folder: Path, name: str) -> None:
        self._start = np.load(folder / f"{name}.npy")
        path = folder / f"{name}.utf8"
        with path.open("rb") as file:
            empty = path.stat().st_size == 0  # an empty file cannot be mapped
            self._bytes = b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def __len__(self) -> int:
        return len(self._start) - 1

    def __getitem__(self, i: int) -> str:
        if not 0 <= i < len(self):
            raise IndexError(i)
        return self._bytes[self._start[i] : self._start[i + 1]].decode("utf-8")


def _write_column(folder: Path, name: str, strings: Sequence[str]) -> None:
    start = np.zeros(len(strings) + 1, dtype=np.int64)
    with (folder / f"{name}.utf8").open("wb") as file:
        for i, string in enumerate(strings):
            # A lone surrogate cannot be written as UTF-8; it becomes a question mark.
            start[i + 1] = start[i] + file.write(string.encode("utf-8", "replace"))
    np.save(folder / f"{name}.npy", start)


class Store(ABC):
    """The documents of an index by position, wherever they lie; in the order of the corpus when all are asked for."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, i: int) -> Document: ...

    def __iter__(self) -> Iterator[Document]:
        return (self[i] for i in range(len(self)))

    def about(self, i: int) -> tuple[str, str, str]:
        """What a list shows of a document besides its text: title, address and date."""
        found = self[i]
        return found.title, found.url, found.date

    def title(self, i: int) -> str:
        return self[i].title

    def text(self, i: int) -> str:
        return self[i].text

    def id(self, i: int) -> str:
        return self[i].id


class DocumentStore(Store):
    """Documents in files. Holds no text in memory; a text is read when it is asked for."""

    def __init__(self, folder: Path) -> None:
        self._columns = {name: StringColumn(folder, name) for name in COLUMNS}

    def __len__(self) -> int:
        return len(self._columns["id"])

    def __getitem__(self, i: int) -> Document:
        return Document(**{name: self._columns[name][i] for name in COLUMNS})

    def title(self, i: int) -> str:
        return self._columns["title"][i]

    def about(self, i: int) -> tuple[str, str, str]:
        title, url, date = (self._columns[name][i] for name in ("title", "url", "date"))
        return title, url, date

    def text(self, i: int) -> str:
        return self._columns["text"][i]

    def id(self, i: int) -> str:
        return self._columns["id"][i]


def write_store(documents: Documents, folder: Path) -> None:
    folder.mkdir()
    columns = (documents.ids, documents.titles, documents.texts, documents.urls, documents.dates)
    for name, strings in zip(COLUMNS, columns, strict=True):
        _write_column(folder, name, strings)
