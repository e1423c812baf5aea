"""The (ε,δ)^k-dissimilarity that implies a wanted bound, and the one that a bound implies.

Φ is what is near a row in its group of N rows, itself included. Dissimilarity bounds the others,
|Φ| - 1 <= (1 - δ)(N - 1); most principles bound a share of the group, |Φ| <= N/m. Neither is the
other, but with groups of k rows or more each implies one of the other kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

from wideberth.core.exact import fraction
from wideberth.distances import DistanceFunction
from wideberth.errors import ParameterError
from wideberth.principles.base import plain_value
from wideberth.principles.dissimilarity import Dissimilarity
from wideberth.principles.diversity import AlphaKAnonymity, FrequencyLDiversity


def implying_breach(
    m: float | Fraction,
    *,
    epsilon: float | Fraction,
    k: int | None = None,
    distance: str | DistanceFunction = "auto",
    on: str | Sequence[str] | None = None,
) -> Dissimilarity:
    """Return the dissimilarity that lets no neighbourhood hold more than 1/m of its group.

    δ = (1 - 1/m) / (1 - 1/k), with k >= m. Proof: 1 - δ = (k/m - 1) / (k - 1), so in a group of N
    rows |Φ| <= 1 + (1 - δ)(N - 1). At N = k that is k/m, as wanted. For each further row it grows
    by (k/m - 1)/(k - 1) <= 1/m, since k/m - 1 <= (k - 1)/m; so it stays at most N/m.

    Rows are whole, so a somewhat smaller δ may do: |Φ| <= N/m is the same as |Φ| <= floor(N/m), and
    any δ above 1 - floor(N/m) / (N - 1) for all N >= k suffices. It is not smaller than 1 - 1/m.

    Parameters
    ----------
    m : number
        One in how many rows may be near a row, itself included; 1 or more.
    epsilon : number
        The largest distance that counts as near.
    k : int, optional
        The smallest permitted group, m or more. By default it is the least, m (rounded up): then
        δ = 1 for a whole m, and no table is refused without need. For if a table has any groups
        with |Φ| <= N/m, each row of a group is near fewer than g = floor(N/m) others, so g colours
        suffice to tell near rows apart (Hajnal and Szemerédi), each used floor(N/g) >= m times:
        it has groups with δ = 1, too.
    distance, on
        As in `Dissimilarity`.

    Examples
    --------
    >>> str(implying_breach(4, epsilon=0.1, k=10))
    'dissimilarity:epsilon=0.1,delta=5/6,k=10'
    >>> str(implying_breach(4, epsilon=0.1))
    'dissimilarity:epsilon=0.1,delta=1,k=4'
    """
    wanted = fraction(m)
    if wanted < 1:
        raise ParameterError("m must be 1 or more: a share cannot exceed the whole", hint="m=2")
    least = ceil(wanted)
    k = least if k is None else k
    if k < wanted:
        raise ParameterError(
            f"k must be at least m={plain_value(wanted)}: "
            f"in a group of {k} rows, each is 1/{k} of it",
            hint=f"k={least}",
        )
    delta = Fraction(0) if wanted == 1 else (1 - 1 / wanted) / (1 - Fraction(1, k))
    return _made(epsilon, delta, k, distance, on)


def implying_alpha_k(
    alpha: float | Fraction, k: int, *, on: str | Sequence[str] | None = None
) -> Dissimilarity:
    """Return the dissimilarity that implies (α,k)-anonymity: no value in more than α of a group.

    Near means equal: the discrete distance, ε = 0. So Φ is the rows with one value, and α is 1/m of
    `implying_breach`: δ = (1 - α) / (1 - 1/k), with k >= 1/α.

    >>> str(implying_alpha_k(0.5, k=4))
    'dissimilarity:epsilon=0,delta=2/3,k=4,distance=discrete'
    """
    AlphaKAnonymity(alpha=alpha, k=k)  # type: ignore[arg-type]  # refuses what makes no sense
    share = fraction(alpha)
    if share <= 0 or k * share < 1:
        raise ParameterError(
            f"k must be at least 1/alpha: in a group of {k} rows, each value has 1/{k} or more",
            hint=f"k={ceil(1 / share)}" if share > 0 else "alpha above 0",
        )
    return implying_breach(1 / share, epsilon=0, k=k, distance="discrete", on=on)


def implying_l(
    l: float | Fraction,  # noqa: E741
    *,
    k: int | None = None,
    on: str | Sequence[str] | None = None,
) -> Dissimilarity:
    """Return the dissimilarity that implies frequency l-diversity, and so distinct l-diversity.

    No value has more than 1/l of a group: `implying_breach` with the discrete distance. Then there
    are at least l values, for fewer could not make up the whole.

    >>> str(implying_l(3))
    'dissimilarity:epsilon=0,delta=1,k=3,distance=discrete'
    """
    FrequencyLDiversity(l=l)  # type: ignore[arg-type]  # refuses what makes no sense
    return implying_breach(l, epsilon=0, k=k, distance="discrete", on=on)


def implied_by_breach(
    m: float | Fraction,
    *,
    epsilon: float | Fraction,
    distance: str | DistanceFunction = "auto",
    on: str | Sequence[str] | None = None,
) -> Dissimilarity:
    """Return the dissimilarity that holds where no neighbourhood has more than 1/m of its group.

    So it does under (ε,m)-anonymity of numbers with an absolute ε: (ε, 1 - 1/m)^m. Proof:
    |Φ| <= N/m gives |Φ| - 1 <= (N - m)/m <= (N - 1)/m = (1 - δ)(N - 1); and N >= m |Φ| >= m.

    >>> str(implied_by_breach(4, epsilon=20))
    'dissimilarity:epsilon=20,delta=0.75,k=4'
    """
    wanted = fraction(m)
    if wanted < 1:
        raise ParameterError("m must be 1 or more: a share cannot exceed the whole", hint="m=2")
    return _made(epsilon, 1 - 1 / wanted, ceil(wanted), distance, on)


def implied_by_alpha_k(
    alpha: float | Fraction, k: int, *, on: str | Sequence[str] | None = None
) -> Dissimilarity:
    """Return the dissimilarity that holds under (α,k)-anonymity: (0, 1 - α)^k, near means equal.

    Proof as of `implied_by_breach`: |Φ| - 1 <= αN - 1 <= α(N - 1), since α <= 1.

    >>> str(implied_by_alpha_k(0.5, k=4))
    'dissimilarity:epsilon=0,delta=0.5,k=4,distance=discrete'
    """
    AlphaKAnonymity(alpha=alpha, k=k)  # type: ignore[arg-type]  # refuses what makes no sense
    return _made(0, 1 - fraction(alpha), k, "discrete", on)


def _made(
    epsilon: float | Fraction,
    delta: Fraction,
    k: int,
    distance: str | DistanceFunction,
    on: str | Sequence[str] | None,
) -> Dissimilarity:
    return Dissimilarity(on=on, epsilon=epsilon, delta=delta, k=k, distance=distance)  # type: ignore[arg-type]
