"""The texts and pairs that train the table, from what gather.py and pairs.py wrote and from requests.tsv."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from documents import requests

# What each kind of text counts in the training: descriptions and requests of agents most, dictionary glosses least.
WEIGHTS = {"base": 5, "request": 5, "document": 3, "glosses": 0.2, "fragments": 0.6, "joins": 0.6,
           "voice_requests": 0.4, "bank_requests": 0.4, "home_requests": 0.7}  # fmt: skip
# How often a pair of each kind is drawn.
SHARES = {"use": 1, "intent": 1, "operation": 0.5, "command": 0.3, "tool": 2, "server": 1, "part": 0.5, "service": 2,
          "example": 3}  # fmt: skip
# One of so many documents is held out with its requests.
HELD_OUT = 10


@dataclass
class Corpus:
    """All texts, named by their numbers elsewhere.

    `weights` is what each text counts, 0 for the requests that are held out. `pairs` are texts that belong together,
    [count, 2]; `groups` and `shares` are the group of each and how often it is drawn: two pairs of one group, unless it
    is -1, are no counter-examples of each other. `requests` and `held_out` are requests with their documents, [count, 2].
    """

    texts: list
    weights: np.ndarray
    pairs: np.ndarray
    groups: np.ndarray
    shares: np.ndarray
    requests: np.ndarray
    held_out: np.ndarray


def read_corpus(texts, pairs, lists, sources):
    numbers, weights = {}, []

    def number(text, kind):
        if text not in numbers:
            numbers[text] = len(numbers)
            weights.append(WEIGHTS.get(kind, 1))
        return numbers[text]

    for line in Path(texts).read_text().splitlines():
        kind, text = line.split("\t", 1)
        number(text, kind)
    asked = [(number(request, "request"), number(document, "document")) for document, request in requests(lists, sources)]
    found = json.loads(Path(pairs).read_text())
    intents = {kind: at for at, kind in enumerate(sorted({kind for kind, _, _ in found if ":" in kind}))}

    asked = np.array(asked)
    held = np.isin(asked[:, 1], np.unique(asked[:, 1])[::HELD_OUT])
    return Corpus(
        pairs=np.array([(number(left, "pair"), number(right, "pair")) for _, left, right in found]),
        groups=np.array([intents.get(kind, -1) for kind, _, _ in found]),
        shares=np.array([SHARES[kind.split(":")[0]] for kind, _, _ in found], np.float64),
        requests=asked[~held],
        held_out=asked[held],
        texts=list(numbers),
        weights=np.where(np.isin(np.arange(len(numbers)), asked[held, 0]), 0.0, weights),
    )
