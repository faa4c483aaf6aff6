"""Which version of Shoal is this? That of the distribution that people install, shoal-search."""

from importlib.metadata import version

VERSION = version("shoal-search")
