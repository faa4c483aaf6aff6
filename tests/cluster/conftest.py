"""What do tests past one machine share? Servers of their own on loopback; what is not installed is not tested."""

from importlib.util import find_spec

_NEEDS = {"spark/*": "pyspark", "opensearch/*": "opensearchpy"}
collect_ignore_glob = [files for files, library in _NEEDS.items() if not find_spec(library)]
