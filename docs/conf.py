"""How is the site built? Sphinx with furo and MyST; what is declared becomes pages first (shoal/manual)."""

from pathlib import Path

from sphinx.application import Sphinx

from shoal.corpus.version import VERSION
from shoal.manual import links_within, without_inline_code, write_pages

HERE = Path(__file__).parent
write_pages(HERE)

project = "Shoal"
author = "The maintainers of Shoal"
version = release = VERSION
extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "methods.md", "common.md", "device.md", "apriori.md", "hghs.md", "floc.md", "murmur.md"]

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
autodoc_member_order = "bysource"

html_theme = "furo"
html_title = "Shoal"
html_static_path = ["static"]
html_css_files = ["manual.css"]
html_use_index = False
html_domain_indices = False
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"source_edit_link": "", "top_of_page_buttons": []}


def _site_links(app: Sphinx, name: str, source: list[str]) -> None:
    """What people wrote links as in the repository; the site has some of it elsewhere."""
    if not name.startswith("made/"):
        source[0] = links_within(source[0], "")


def _finish(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        without_inline_code(Path(app.outdir))


def setup(app: Sphinx) -> None:
    app.connect("source-read", _site_links)
    app.connect("build-finished", _finish)
