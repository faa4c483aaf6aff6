"""Who may do what in the panel? Three roles, and one table of the least role that each route asks for."""

VIEWER, OPERATOR, ADMINISTRATOR = ROLES = ("viewer", "operator", "administrator")
# What each may do beyond the one before it, as the page of the accounts tells it.
MAY = {
    VIEWER: "looks at methods, runs, measures, evaluations and the history; changes nothing, and sees no row of a log",
    OPERATOR: "uploads logs, starts runs, tries, downloads, activates and withdraws releases, issues tokens, deletes",
    ADMINISTRATOR: "says what may be published without a question, looks after accounts, and reads the audit",
}

# Who is not logged in may ask for these.
OPEN = frozenset({"operator.login", "api_operator.log_in"})
# Whoever is logged in, also with a one-time password.
OWN = frozenset(
    {"operator.password", "operator.logout", "api_operator.set_password", "api_operator.log_out",
     "api_operator.session"}
)  # fmt: skip
# Of all other routes a viewer may read and an operator may change what they give, but for these. They are named
# without their blueprint: a page and the call of the API that does the same have one name.
_LEAST = {
    "rejected": OPERATOR,  # rows of a log as somebody typed them
    "tokens": OPERATOR,  # with notes that may tell who somebody is
    "download": OPERATOR,  # files of a release that may never have been active
    "change_policy": ADMINISTRATOR,  # or who wants to publish more would first allow it
    "accounts": ADMINISTRATOR, "new_account": ADMINISTRATOR, "change_account": ADMINISTRATOR,
    "delete_account": ADMINISTRATOR, "audit": ADMINISTRATOR, "audit_csv": ADMINISTRATOR,
}  # fmt: skip

# What leaves the server by a route of the panel, as the audit names it.
DOWNLOADS = {"download": "release", "audit_csv": "audit"}


def least_role(endpoint: str | None, *, reading: bool) -> str:
    """The role that a route of the panel asks for."""
    name = (endpoint or "").rpartition(".")[2]
    return _LEAST.get(name, VIEWER if reading else OPERATOR)


def is_at_least(role: str, wanted: str) -> bool:
    return ROLES.index(role) >= ROLES.index(wanted)
