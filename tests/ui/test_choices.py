"""What the app says of principles fits the registry, also when a principle is added or renamed."""

from __future__ import annotations

import re

import pytest

from wideberth.principles import registry
from wideberth.ui.choices import MEANINGS, PRINCIPLE_KINDS, SENTENCES, catalogue


def test_all_principles_that_can_be_made_are_offered():
    made = {name for name, cls in registry().items() if cls.needs != "population"}
    assert set(catalogue()) == made


@pytest.mark.parametrize("name", SENTENCES)
def test_a_sentence_names_the_parameters_that_must_be_given(name: str):
    said = set(re.findall(r"\{(\w+)\}", SENTENCES[name])) - {"on"}
    cls = registry()[name]
    assert said <= set(cls.parameters())
    assert set(cls.mandatory()) <= said


def test_kinds_offer_principles_that_exist_and_have_words():
    offered = {name for kind in PRINCIPLE_KINDS.values() for name in kind["principles"]}
    assert offered <= set(catalogue())
    assert offered <= set(SENTENCES)


@pytest.mark.parametrize(("name", "key"), MEANINGS)
def test_meanings_are_of_parameters(name: str, key: str):
    assert key in registry()[name].parameters()
    told = {p["name"]: p["doc"] for p in catalogue()[name]["parameters"]}
    assert told[key] == MEANINGS[name, key]
