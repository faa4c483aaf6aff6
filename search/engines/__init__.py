"""Which engines can find candidates? One file each, behind the protocol of base.py."""
