"""Run anjana and anonypy on people.csv and keep what they write; NOTE.md has the story.

They need their own environment: ``pip install anjana==1.2.3 anonypy==0.2.1``, then
``python tests/peers/run_python_peers.py``. The calls are those of their README files. Nothing is
imported before it is needed, for the tests of wideberth run without these packages.
"""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent
QUASI = ["age", "zip", "sex", "education"]


def run_anjana() -> None:
    """Make the table 3-anonymous, with a third of the records suppressed at most.

    Suppression calls reset_index, which leaves the row numbers of the original in a column.
    """
    import numpy as np
    import pandas as pd
    from anjana.anonymity import k_anonymity, l_diversity, utils

    data = pd.read_csv(HERE / "people.csv", dtype={"zip": str})
    age, zips = data["age"].values, data["zip"].values
    stars = np.array(["*"] * len(data))
    hierarchies = {
        "age": {
            0: age,
            **{i: utils.generate_intervals(age, 0, 100, 5 * 2 ** (i - 1)) for i in (1, 2, 3)},
        },
        "zip": {
            0: zips,
            **{i: np.array([z[: 5 - i] + "*" * i for z in zips]) for i in range(1, 5)},
            5: stars,
        },
        "sex": {0: data["sex"].values, 1: stars},
        "education": {0: data["education"].values, 1: stars},
    }
    anonymous = k_anonymity(data, ["name"], QUASI, 3, 33, hierarchies)
    anonymous.to_csv(HERE / "anjana.csv")
    diverse = l_diversity(anonymous, ["name"], QUASI, "disease", 3, 3, 33, hierarchies)
    diverse.to_csv(HERE / "anjana_diverse.csv", index=False)


def run_anonypy() -> None:
    """Make the table 3-anonymous: one line for each disease of a group, with a count.

    Sets are written in the order that Python hashes texts: set PYTHONHASHSEED=0 for equal files.
    """
    import anonypy
    import pandas as pd

    data = pd.read_csv(HERE / "people.csv", dtype={"zip": str})
    for name in ("zip", "sex", "education", "disease"):
        data[name] = data[name].astype("category")
    preserver = anonypy.Preserver(data, QUASI, "disease")
    pd.DataFrame(preserver.anonymize_k_anonymity(k=3)).to_csv(HERE / "anonypy.csv")


if __name__ == "__main__":
    run_anjana()
    run_anonypy()
