"""What is a document? One record, and many of them as columns."""

import hashlib
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import astuple, dataclass, fields
from typing import IO

# Control characters, and the mark that some earlier program left where it could not read a letter.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]+")
_UNREADABLE = re.compile("[\ufffd\ud800-\udfff]+")


@dataclass(frozen=True)
class Document:
    id: str
    title: str
    text: str
    url: str = ""
    date: str = ""  # ISO 8601 where the source has a readable one


@dataclass(frozen=True)
class Documents:
    """A corpus: document i is row i of every column."""

    name: str
    ids: list[str]
    titles: list[str]
    texts: list[str]
    urls: list[str]
    dates: list[str]

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, i: int) -> Document:
        return Document(self.ids[i], self.titles[i], self.texts[i], self.urls[i], self.dates[i])

    def __iter__(self) -> Iterator[Document]:
        return (self[i] for i in range(len(self)))

    def digest(self) -> str:
        """The sha-256 of the content, without the name: what a cache made from these documents depends on."""
        total = hashlib.sha256()
        for column in (self.ids, self.titles, self.texts, self.urls, self.dates):
            for value in column:
                total.update(_measured(value))
        return total.hexdigest()


def _measured(value: str) -> bytes:
    data = value.encode()
    return len(data).to_bytes(8, "little") + data


class RunningDigest:
    """The digest of documents that come one after another. Columns wait in files, as they are digested in turn."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self._columns: list[IO[bytes]] = [self._open.enter_context(tempfile.TemporaryFile()) for _ in fields(Document)]

    def __enter__(self) -> "RunningDigest":
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def add(self, document: Document) -> None:
        for file, value in zip(self._columns, astuple(document), strict=True):
            file.write(_measured(value))

    def hexdigest(self) -> str:
        total = hashlib.sha256()
        for file in self._columns:
            file.seek(0)
            while part := file.read(1 << 20):
                total.update(part)
        return total.hexdigest()


def in_columns(name: str, documents: Iterable[Document]) -> Documents:
    """Documents as columns, in the order they come."""
    columns: list[list[str]] = [[], [], [], [], []]
    names = [field.name for field in fields(Document)]
    for document in documents:
        for column, field in zip(columns, names, strict=True):
            column.append(getattr(document, field))
    return Documents(name, *columns)


def clean(text: str) -> str:
    """Text that can be shown, indexed and written as UTF-8: no control characters, no outer blanks."""
    return _CONTROL.sub(" ", _UNREADABLE.sub("", text)).strip()
