"""Which corpora do the search tests use? A handful of sentences written for them, and real news."""

from pathlib import Path

import pytest

from shoal.corpus.documents import Documents, load_documents
from shoal.search.index import Index, build_index, open_index

ENGINES = ("whoosh", "tantivy")
SENTENCES = [
    ("Solar power", "Solar panels turn sunlight into electric power. The panels last for decades."),
    ("Wine of Portugal", "A bottle of red wine from the Douro valley. The wine is dry."),
    ("The Who on tour", "A rock band from London plays loud music. Who would not go?"),
    ("Power of music", "Music has the power to move people. Red light, loud drums."),
    ("Elections", "The election was close. Voters elected a new president; elections follow in May."),
    ("Markup <b>bold</b>", "A page may hold <script>alert('wine')</script> & other things that are not wine."),
    ("New York, New York", "The city that never sleeps, New York, in the state of New York."),
    ("Twins", "An identical text about lighthouses."),
    ("Twins", "An identical text about lighthouses."),
]


def make_documents(pairs: list[tuple[str, str]], name: str = "sentences") -> Documents:
    titles, texts = [title for title, _ in pairs], [text for _, text in pairs]
    ids = [f"d{i}" for i in range(len(pairs))]
    return Documents(name, ids, titles, texts, [f"https://example.org/{i}" for i in ids], ["2017-03-01"] * len(ids))


@pytest.fixture(scope="session", params=ENGINES)
def engine_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def sentences() -> Documents:
    return make_documents(SENTENCES)


@pytest.fixture(scope="session")
def small(engine_name: str, sentences: Documents, tmp_path_factory: pytest.TempPathFactory) -> Index:
    return _built(sentences, engine_name, tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def articles() -> Documents:
    news = load_documents("news")
    some = list(zip(news.titles[:600], news.texts[:600], strict=True))
    return make_documents(some, "articles")


@pytest.fixture(scope="session")
def news(engine_name: str, articles: Documents, tmp_path_factory: pytest.TempPathFactory) -> Index:
    return _built(articles, engine_name, tmp_path_factory.mktemp("news"))


def _built(documents: Documents, engine: str, folder: Path) -> Index:
    build_index(documents, folder / "index", engine)
    return open_index(folder / "index")
