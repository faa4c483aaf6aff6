"""The built site under a policy that lets no inline code run: scripts and styles of its pages become files."""

import hashlib
import re
from pathlib import Path

_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
# Of furo's icons; what they say can be said by attributes of SVG, which are no inline styles.
_ATTRIBUTES = {'style="display: none;"': 'display="none"', 'style="opacity: 50%"': 'opacity="0.5"'}


def without_inline_code(site: Path) -> None:
    """Take the inline scripts and styles out of every page, into files beside the theme's own."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        up = "../" * len(page.relative_to(site).parent.parts)
        for said, instead in _ATTRIBUTES.items():
            text = text.replace(said, instead)
        page.write_text(_outside(text, site, up), encoding="utf-8")


def _outside(text: str, site: Path, up: str) -> str:
    text = _SCRIPT.sub(lambda found: f'<script src="{up}{_kept(site, found[1], "js")}"></script>', text)
    return _STYLE.sub(lambda found: f'<link rel="stylesheet" href="{up}{_kept(site, found[1], "css")}">', text)


def _kept(site: Path, code: str, ending: str) -> str:
    """A file of this code, named by its content: pages that share it share the file."""
    name = f"_static/inline-{hashlib.sha256(code.encode()).hexdigest()[:12]}.{ending}"
    (site / name).write_text(code.strip() + "\n", encoding="utf-8")
    return name
