"""/people: whom can somebody search as? All people of the log, found by interest or name."""

from flask import request

from shoal.webapp.core.context import service
from shoal.webapp.core.question import clean_query, read_asked, read_number
from shoal.webapp.searcher import pages, render

_PER_PAGE = 48
# Pages that lead on to a person chosen here.
_PLACES = ("/", "/search", "/knows", "/attack")


@pages.get("/people")
def people() -> str:
    asked = read_asked(request.args)
    find = clean_query(request.args.get("find", ""))[:100]
    everybody = service().people.matching(find)
    last = max(1, -(-len(everybody) // _PER_PAGE))
    page = int(read_number(request.args, "list", 1, 1, last))
    found = [service().people.at(int(row)) for row in everybody[(page - 1) * _PER_PAGE : page * _PER_PAGE]]
    to = request.args.get("to", "/")
    chosen = to if to in _PLACES else "/"
    return render("people", asked, find=find, found=found, to=chosen, at=page, last=last, matching=len(everybody))
