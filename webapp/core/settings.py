"""What can be set on the server? Where its data lies, where it listens, and its secret key."""

import ipaddress
import json
import os
import secrets
import stat
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

from shoal.corpus.errors import InputError
from shoal.corpus.store.folders import state_folder

DATABASE = "SHOAL_DATABASE"  # what names the address of the database in the environment
_SECRET = "secret.key"
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def default_instance() -> Path:
    return state_folder() / "instance"


@dataclass(frozen=True)
class Settings:
    """`data` names a data set that gives both corpus and log; a path given for either goes before it."""

    data: str = "news"
    corpus: str = ""  # a data set's name or a JSON-lines file; empty: that of `data`
    log: str = ""  # a data set's name or a file in the AOL format; empty: that of `data`
    instance: Path = field(default_factory=default_instance)  # what cannot be made again: accounts, runs, the key
    database_url: str = ""  # empty: SQLite in the instance folder
    host: str = "127.0.0.1"
    port: int = 8000
    hosts: tuple[str, ...] = ()  # the names by which browsers may reach it; loopback's always
    proxies: tuple[str, ...] = ()  # addresses and networks of those who may say for whom they ask
    tls: bool = False  # behind a proxy that speaks TLS: cookies are marked Secure
    debug: bool = False
    max_upload: int = 256 * 2**20  # bytes
    slowest_upload: int = 16 * 2**10  # bytes a second; 0: any
    levels: bool = True  # make releases of every method by itself, where the people are simulated or public
    chosen_corpus: str = ""  # in the panel; goes before all others, as does the log
    chosen_log: str = ""

    @property
    def corpus_source(self) -> str:
        return self.chosen_corpus or self.started_with[0]

    @property
    def log_source(self) -> str:
        return self.chosen_log or self.log or self.data

    @cached_property
    def started_with(self) -> tuple[str, str]:
        """Corpus and log of the command line; paths mean the same in a process started elsewhere."""
        log = self.log or self.data
        return _resolved(self.corpus) if self.corpus else self.data, _resolved(log)

    @property
    def database(self) -> str:
        return self.database_url or f"sqlite:///{self.instance / 'shoal.sqlite3'}"

    @property
    def names(self) -> frozenset[str] | None:
        """Other names are refused: a page elsewhere could give its own name our address. None: any name."""
        if not self.hosts and not is_local(self.host):
            return None
        return frozenset({*self.hosts, "localhost", "127.0.0.1", "::1", self.host})

    @property
    def trusted(self) -> tuple[Network, ...]:
        """The proxies that are believed when they say who asks."""
        try:
            return tuple(ipaddress.ip_network(text, strict=False) for text in self.proxies)
        except ValueError as error:
            raise InputError(f"--proxies {','.join(self.proxies)}: expected addresses or networks ({error})") from error

    def protect_folder(self) -> None:
        """The instance folder is its owner's alone, also one that was made by hand."""
        try:
            self.instance.mkdir(parents=True, exist_ok=True, mode=0o700)
            for path in (self.instance, *self.instance.glob("*.sqlite3*")):
                if stat.S_IMODE(path.stat().st_mode) & 0o077:
                    path.chmod(0o700 if path.is_dir() else 0o600)
        except OSError as error:
            raise InputError(
                f"{self.instance} cannot be made the owner's alone ({error.strerror}): give a folder of your own"
            ) from error

    def secret_key(self) -> bytes:
        """The key of this instance, made at its first start, readable by its owner only."""
        path = self.instance / _SECRET
        try:
            self.protect_folder()
            _make_once(path)
            if stat.S_IMODE(path.stat().st_mode) & 0o077:
                raise InputError(f"{path} can be read by others: run `chmod 600 {path}`, or delete it for a new key")
            return path.read_bytes()
        except OSError as error:
            raise InputError(
                f"no secret key in {self.instance} ({error.strerror}): give a folder to write to"
            ) from error

    def check(self) -> None:
        """Refuse what would put the machine at risk, before anything listens."""
        if self.debug and not is_local(self.host):
            raise InputError(f"debug mode on {self.host} would let anyone run code: use 127.0.0.1 or leave debug out")
        if not 0 <= self.port <= 65535:
            raise InputError(f"port {self.port} is not allowed: give a number from 0 to 65535")
        if self.slowest_upload < 0:
            raise InputError(f"--slowest-upload {self.slowest_upload} is not allowed: give bytes a second, or 0")
        _ = self.trusted

    def to_json(self) -> str:
        return json.dumps({**asdict(self), "instance": str(self.instance)})

    @classmethod
    def from_json(cls, text: str) -> "Settings":
        values = json.loads(text)
        lists = {name: tuple(values[name]) for name in ("hosts", "proxies")}
        return cls(**{**values, "instance": Path(values["instance"]), **lists})


def _resolved(name_or_path: str) -> str:
    return str(Path(name_or_path).resolve()) if Path(name_or_path).is_file() else name_or_path


def _make_once(path: Path) -> None:
    """Write a new key under another name and link it: two processes that start at once agree on one."""
    if path.exists():
        return
    aside = path.with_name(f".{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_bytes(32))
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(aside, path)
    except FileExistsError:
        return
    finally:
        aside.unlink()


def is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
