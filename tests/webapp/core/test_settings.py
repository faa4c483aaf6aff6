"""Does the server refuse to start where it would put its machine, or its users, at risk?"""

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from shoal.cli import main
from shoal.cli.options import database_address
from shoal.cli.serve import warn_of_public_address
from shoal.corpus.errors import InputError
from shoal.webapp.core.settings import Settings
from tests.webapp.instances import Panel


def test_debug_mode_is_refused_on_a_public_address(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "192.0.2.1", "::", "example.org"):
        with pytest.raises(InputError, match="debug mode"):
            Settings(instance=tmp_path, host=host, debug=True).check()
    for host in ("127.0.0.1", "::1", "localhost"):
        Settings(instance=tmp_path, host=host, debug=True).check()


def test_the_secret_key_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    settings = Settings(instance=tmp_path / "new")
    key = settings.secret_key()
    assert len(key) == 32
    assert settings.secret_key() == key
    assert stat.S_IMODE((tmp_path / "new" / "secret.key").stat().st_mode) == 0o600
    assert Settings(instance=tmp_path / "other").secret_key() != key


def test_a_secret_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    settings = Settings(instance=tmp_path)
    settings.secret_key()
    (tmp_path / "secret.key").chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        settings.secret_key()


def test_settings_survive_the_way_into_a_worker(tmp_path: Path) -> None:
    names = {"hosts": ("a.example", "b.example"), "proxies": ("10.0.0.1",)}
    settings = Settings(data="reuters", instance=tmp_path, port=81, tls=True, **names)  # type: ignore[arg-type]
    assert Settings.from_json(settings.to_json()) == settings
    assert replace(settings, port=82) != settings


def test_a_folder_that_others_could_read_becomes_its_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "instance"
    folder.mkdir(mode=0o755)
    (folder / "shoal.sqlite3").write_bytes(b"")
    (folder / "shoal.sqlite3").chmod(0o644)
    Settings(instance=folder).secret_key()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "shoal.sqlite3").stat().st_mode) == 0o600


def test_a_server_on_loopback_answers_to_its_own_names_only(quiet_panel: Panel) -> None:
    """Another page could give its own name the address 127.0.0.1, and read what the browser is shown."""
    ask = quiet_panel.app.test_client().get
    for name in ("localhost", "127.0.0.1:8000", "[::1]:8000"):
        assert ask("/healthz", headers={"Host": name}).status_code == 200, name
    for name in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8000"):
        for path in ("/", "/search?q=oil", "/admin/login", "/api/v1/search?q=oil"):
            answer = ask(path, headers={"Host": name})
            assert (answer.status_code, "--hosts" in answer.text) == (400, True), (name, path)


def test_declared_names_are_answered_to(tmp_path: Path) -> None:
    assert Settings(instance=tmp_path, host="0.0.0.0").names is None
    assert "search.example" in (Settings(instance=tmp_path, hosts=("search.example",)).names or ())


def test_a_public_address_without_tls_or_names_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    warn_of_public_address(Settings(instance=tmp_path))
    behind = Settings(instance=tmp_path, host="0.0.0.0", tls=True, hosts=("search.example",), proxies=("10.0.0.1",))
    warn_of_public_address(behind)
    assert capsys.readouterr().err == ""
    warn_of_public_address(replace(behind, proxies=()))
    assert "--proxies" in capsys.readouterr().err
    warn_of_public_address(Settings(instance=tmp_path, host="0.0.0.0"))
    said = capsys.readouterr().err
    assert "TLS" in said
    assert "--hosts" in said


def test_a_password_of_the_database_stands_on_no_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address, kept = "postgresql://shoal:hush-hush@127.0.0.1:1/shoal", tmp_path / "address"
    assert main(["admin", "list", "--instance", str(tmp_path), "--database", address]) == 2
    said = capsys.readouterr().err
    assert "@FILE" in said
    assert "hush-hush" not in said
    kept.write_text(f"{address}\n")
    kept.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        database_address(f"@{kept}")
    kept.chmod(0o600)
    assert database_address(f"@{kept}") == address
    with pytest.raises(InputError, match="cannot be read"):
        database_address(f"@{tmp_path}/nowhere")
    monkeypatch.setenv("SHOAL_DATABASE", address)
    assert database_address("") == address
    assert database_address("postgresql://shoal@127.0.0.1/shoal") == "postgresql://shoal@127.0.0.1/shoal"
