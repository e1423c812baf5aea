"""What each column is (its type) and what it does to privacy (its role), guessed or checked.

Types are told from all values of a column, never from a sample: one late odd value must not
come up in the middle of a release.
"""

from wideberth.schema.guessing import Guess, guess, leads_to_people, looks_of
from wideberth.schema.naming import absent, by_column, covers, expanded, prefix_of, short_for, shown
from wideberth.schema.people import LOOKED_AT, People, people_in, people_there
from wideberth.schema.proposing import Proposal, Suggestion, policy_text
from wideberth.schema.questions import is_remarked, on_values, question, require_one_way
from wideberth.schema.remarks import noticed, proposed
from wideberth.schema.roles import (
    LISTS,
    MEANING,
    ROLES,
    UNDECIDED,
    check_roles,
    how_to_decide,
    require_decided,
)
from wideberth.schema.strays import (
    CALLED,
    CANDIDATES,
    ENDS,
    Facts,
    Strays,
    on_rows,
    strays_in,
    strays_of,
)
from wideberth.schema.types import TYPES, convert, infer_type
from wideberth.schema.vectors import components, is_vector, require_finite, require_vectors
from wideberth.tables.notation import too_long

__all__ = [
    "CALLED",
    "CANDIDATES",
    "ENDS",
    "LISTS",
    "LOOKED_AT",
    "MEANING",
    "ROLES",
    "TYPES",
    "UNDECIDED",
    "Facts",
    "Guess",
    "People",
    "Proposal",
    "Strays",
    "Suggestion",
    "absent",
    "by_column",
    "check_roles",
    "components",
    "convert",
    "covers",
    "expanded",
    "guess",
    "how_to_decide",
    "infer_type",
    "is_remarked",
    "is_vector",
    "leads_to_people",
    "looks_of",
    "noticed",
    "on_rows",
    "on_values",
    "people_in",
    "people_there",
    "policy_text",
    "prefix_of",
    "proposed",
    "question",
    "require_decided",
    "require_finite",
    "require_one_way",
    "require_vectors",
    "short_for",
    "shown",
    "strays_in",
    "strays_of",
    "too_long",
]
