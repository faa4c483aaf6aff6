"""python -m shoal: the same as the program shoal, and like it without the current folder on the path."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # where `python -m` put the current folder, whose files are not ours
    from shoal.cli import program

    sys.exit(program())
