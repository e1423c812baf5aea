"""Parts of a report, made by hand in the shape that audits, measures and advice give them."""

from __future__ import annotations

from typing import Any

Dict = dict[str, Any]


def risk(worst: float, mean: float, people: int, *above: int) -> Dict:
    """Return a risk; `above` are the people at or above 50, 75, 90 and 100 per cent."""
    levels = dict(zip(("0.5", "0.75", "0.9", "1"), (*above, 0, 0, 0, 0), strict=False))
    return {"worst": worst, "mean": mean, "people": people, "above": levels}


def measures(
    guess: Dict,
    near: Dict | None,
    *,
    certain: int,
    ruled: list[tuple[float, int]],
    claims: Any = (),
) -> Dict:
    people = guess["people"]
    return {
        "guess": guess,
        "certain": {"people": certain, "groups": certain},
        "background": {
            "ruled_out": [
                {"values": at, "worst": worst, "certain": sure}
                for at, (worst, sure) in enumerate(ruled)
            ],
            "needed": {"least": 4 if not certain else 0, "median": 4},
        },
        "change": {
            "prior": "estimated",
            "largest_ratio": 97.4,
            "largest_gain": 0.21,
            "positive": {"delta": 0.1, "people": certain, "groups": certain},
            "negative": {"epsilon": 0.01, "people": people, "groups": 3925},
            "breaches": {"rho1": 0.1, "rho2": 0.5, "people": certain},
        },
        "nearness": near
        and {
            "epsilon": 4500,
            "relative": False,
            "chosen": "policy",
            "risk": near,
            "claims": list(claims),
            "widths": {},
        },
        "kinds": None,
        "dissimilarity": None,
    }


def audit(rows: int = 20_000, groups: int = 3925) -> Dict:
    """Return the audit of a release that keeps its policy."""
    known = measures(
        risk(0.2, 0.196, rows),
        risk(0.2, 0.196, rows),
        certain=0,
        ruled=[(0.2, 0), (0.25, 0), (1 / 3, 0), (0.5, 0), (1.0, rows)],
    )
    covering = measures(
        risk(0.25, 0.11, rows),
        risk(0.334, 0.142, rows),
        certain=0,
        ruled=[(0.25, 0), (0.3, 0), (0.4, 0), (0.6, 0), (1.0, 31)],
        claims=[
            {
                "people": 72,
                "confidence": 0.3,
                "within": 1000,
                "text": "72 people's income is known to within 1,000",
            },
            {"people": 2, "confidence": 0.334, "within": 4500, "from": 51_300, "to": 60_300},
        ],
    )
    return {
        "rows": rows,
        "groups": groups,
        "boxes": 3610,
        "original_rows": rows,
        "suppressed": 0,
        "roles": {
            "quasi": ["age", "birthplace", "occupation"],
            "sensitive": ["income"],
            "identifier": [],
            "insensitive": [],
            "group": "group",
        },
        "guessed": False,
        "safe": True,
        "verdict": "In order: The policy is met, and the audit found nothing grave",
        "level": "good",
        "satisfied": True,
        "principles": principles(),
        "identity": {
            "prosecutor": risk(0.2, 0.196, rows),
            "marketer": 0.196,
            "uniques": 0,
            "smallest": 5,
            "journalist": None,
            "covering": risk(0.2, 0.11, rows),
        },
        "attributes": [
            {
                "on": "income",
                "values": 937,
                "known": known,
                "covering": covering,
                "victims": {"looked_at": rows, "of": rows, "exact": True},
            }
        ],
        "findings": findings(),
        "notes": [],
    }


def principles(*, satisfied: bool = True) -> list[Dict]:
    places = [("42..44", "30..45", "33..41"), ("17..25", "2..34", "33..47")]
    groups = [dict(zip(("age", "birthplace", "occupation"), p, strict=True)) for p in places]
    near = [
        {
            "group": group,
            "rows": 5,
            "satisfied": satisfied,
            "achieved": {"m": 5 if satisfied else 2.5},
            "reason": f"{1 if satisfied else 2} of 5 rows in the neighbourhood of one row",
        }
        for group in groups
    ]
    return [
        {
            "name": "epsilon-m",
            "on": "income",
            "parameters": {"epsilon": 4500, "m": 5},
            "satisfied": satisfied,
            "achieved": {"m": 5 if satisfied else 2.5},
            "violating_groups": 0 if satisfied else 37,
            "violating_rows": 0 if satisfied else 185,
            "worst": near,
        },
        {
            "name": "k-anonymity",
            "on": None,
            "parameters": {"k": 5},
            "satisfied": True,
            "achieved": {"k": 5},
            "violating_groups": 0,
            "violating_rows": 0,
            "worst": [
                {
                    "group": group,
                    "rows": 5,
                    "satisfied": True,
                    "achieved": {"k": 5},
                    "reason": "5 rows, k = 5 wanted",
                }
                for group in groups
            ],
        },
    ]


def findings() -> list[Dict]:
    return [
        {
            "name": "mixture",
            "severity": "low",
            "title": "who knows the quasi-identifiers, but no group, comes near income more often",
            "meaning": "Published ranges overlap, so several groups may be a person's.",
            "advice": "Ask for delta-l with δ = ε and l = m: its bound holds for any mixture.",
            "figures": {"worst": 0.334, "bound": 0.2},
        },
        {
            "name": "interval-ends",
            "severity": "low",
            "title": "interval ends are values of the table",
            "meaning": "Each range begins and ends at the value of a person in it: who knows the "
            "group knows that somebody there is exactly 42, and somebody exactly 44.",
            "advice": "Align the ends to a grid or a hierarchy: align in the policy's transform.",
            "figures": {"columns": ["age", "birthplace"], "share": {"age": 1.0, "birthplace": 0.9}},
        },
        {
            "name": "group-column",
            "severity": "info",
            "title": "the release tells each row's group",
            "meaning": "It is needed: (ε,m)-anonymity is promised group by group.",
            "advice": "Nothing.",
            "figures": {"groups": 3925},
        },
    ]


def before(rows: int = 20_000) -> Dict:
    """Return the audit of the original: most people are alone in it."""
    most = rows - 188
    told = audit(rows, groups=most)
    told["identity"] = {
        "prosecutor": risk(1.0, 0.993, rows, rows, most, most, most),
        "marketer": 0.993,
        "uniques": most,
        "smallest": 1,
        "journalist": None,
        "covering": None,
    }
    told["attributes"] = [
        {
            "on": "income",
            "values": 937,
            "known": measures(
                risk(1.0, 0.993, rows, rows - 4, most, most, most),
                risk(1.0, 0.995, rows, rows, most + 40, most + 40, most + 40),
                certain=most,
                ruled=[(1.0, most), (1.0, rows)],
                claims=[{"people": most, "confidence": 1.0, "within": 0}],
            ),
            "covering": None,
            "victims": None,
        }
    ]
    told["satisfied"] = False
    told["principles"] = principles(satisfied=False)
    told["findings"] = []
    return told


def curve() -> list[list[float | None]]:
    steps = "24100 15000 10600 8500 7000 5600 5000 4800 4000 3700 3100 3000 2600 2400"
    later = [(2000, 18), (1800, 19), (1500, 21), (1000, 28), (700, 31), (500, 35), (400, 36)]
    first = [[float(step), m] for m, step in enumerate(steps.split(), start=2)]
    return [[None, 1], *first, *([float(e), m] for e, m in later)]


def advice() -> Dict:
    return {
        "sensitive": "income",
        "rows": 20_000,
        "epsilon": 4500,
        "m": 5,
        "achievable": True,
        "max_m": 9,
        "max_epsilon_exclusive": 8500,
        "curve": curve(),
        "relative": False,
        "other": [
            {
                "name": "recursive-cl",
                "parameter": "c",
                "given": {"l": 2},
                "value": 0.03,
                "exclusive": True,
                "achievable": True,
            },
            {
                "name": "k-anonymity",
                "parameter": "k",
                "given": {},
                "value": 20_000,
                "exclusive": False,
                "achievable": True,
            },
        ],
    }


def group_sizes() -> Dict:
    bars = [(5, 5, 3601), (6, 6, 280), (7, 9, 39), (10, 19, 5)]
    return {
        "smallest": 5,
        "median": 5,
        "mean": 5.1,
        "largest": 11,
        "histogram": [
            {"from": low, "to": high, "groups": groups, "rows": groups * (low + high) // 2}
            for low, high, groups in bars
        ],
    }


def manifest() -> Dict:
    return {
        "versions": {"python": "3.11.7", "wideberth": "0.1.0", "numpy": "2.4.6"},
        "created": "2026-11-16T15:01:01+00:00",
        "input": {"name": "census.csv", "rows": 20_000, "columns": 4},
        "output": {"name": "release.csv", "sha256": "9f2c" * 16},
        "roles": {"quasi": ["age", "birthplace", "occupation"], "sensitive": ["income"]},
        "group": "group",
        "principles": ["epsilon-m:epsilon=4500,m=5 on income", "k-anonymity:k=5"],
        "transform": {"algorithm": "mondrian", "cuts": "best", "suppression_limit": 0.0},
        "seed": "secret, from the operating system",
        "rows": 20_000,
        "groups": 3925,
        "suppressed": {"rows": 0, "share": 0.0},
        "loss": {
            "ncp_percent": 7.07,
            "ncp_percent_by_attribute": {"age": 8.73, "birthplace": 5.06, "occupation": 7.44},
            "average_group_size": 5.1,
            "discernibility": 102_308,
        },
        "warnings": [],
        "seconds": {"reading": 0.008, "splitting": 1.202, "verifying": 0.021},
    }


def queries() -> Dict:
    return {
        "queries": 1000,
        "left_out": 3,
        "mean": 0.124,
        "median": 0.071,
        "quantiles": {"0.05": 0.004, "0.25": 0.031, "0.5": 0.071, "0.75": 0.152, "0.95": 0.41},
    }


def utility() -> Dict:
    """Return what `Utility.to_dict` gives: a measured metric, and one that could not be."""
    ncp = {"name": "ncp", "title": "normalized certainty penalty", "goal": "lower"}
    bins = [{"from": 3, "to": 5, "groups": 3601, "rows": 18_005}]
    return {
        "figures": [
            {
                **ncp,
                "low": 0.0,
                "high": 1.0,
                "value": 0.25,
                "by_attribute": {"age": 0.5, "zip": 0.0},
                "details": {},
                "note": None,
            }
        ],
        "not_measured": [{"name": "height", "title": "height", "reason": "no hierarchy of 'age'"}],
        "group_sizes": {"smallest": 5, "bins": bins},
        "notes": [],
    }


def probe() -> Dict:
    """Return what `Probe.to_dict` gives."""
    return {
        "target": "income",
        "features": ["age", "birthplace", "occupation"],
        "task": "regression",
        "scores": [
            {"model": "ridge", "original": {"R²": 0.31}, "release": {"R²": 0.29}},
            {"model": "tree", "original": {"R²": 0.4}, "release": {"R²": None}},
        ],
        "notes": ["the release holds the people that models are tested on"],
    }


def parts() -> Dict:
    """Return everything that `compose` takes, for a release that keeps its policy."""
    return {
        "audit": audit(),
        "before": before(),
        "advice": [advice()],
        "group_sizes": group_sizes(),
        "queries": queries(),
        "manifest": manifest(),
    }
