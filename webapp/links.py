"""Which addresses of documents may a page link to? Those of the web, and nothing that a browser would run."""

from urllib.parse import urlsplit

_SCHEMES = ("http", "https")


def safe_link(address: str) -> str:
    """The address if it leads to the web, else an empty string."""
    cleaned = address.strip()
    if any(not letter.isprintable() for letter in cleaned):
        return ""
    try:
        parts = urlsplit(cleaned)
        host = parts.hostname
    except ValueError:
        return ""
    return cleaned if parts.scheme.lower() in _SCHEMES and host else ""


def source_of(address: str) -> str:
    """The site that a document comes from, as people name it."""
    safe = safe_link(address)
    return (urlsplit(safe).hostname or "").removeprefix("www.") if safe else ""
