"""Does the server refuse to start where it would put its machine, or its users, at risk?"""

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from shoal.corpus.errors import InputError
from shoal.webapp.core.settings import Settings


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
    settings = Settings(data="reuters", instance=tmp_path, port=81, tls=True)
    assert Settings.from_json(settings.to_json()) == settings
    assert replace(settings, port=82) != settings
