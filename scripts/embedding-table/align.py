"""English words for pieces of other languages: from the parallel text (IBM model 1), and by the vectors of e5."""

from collections import Counter

import numba
import numpy as np

LONGEST = 40
ROUNDS = 8
MIN_SHARE = 0.04
MIN_OCCURRENCES = 0.7
NEIGHBOURS = 10
CANDIDATES = 8


@numba.njit(cache=True)
def cells(foreign, english, foreign_at, english_at, size, width):
    """All pairs of a piece and a word of one text."""
    result = np.empty(size, np.int64)
    count = 0
    for text in range(len(foreign_at) - 1):
        for left in range(foreign_at[text], foreign_at[text + 1]):
            for right in range(english_at[text], english_at[text + 1]):
                result[count] = np.int64(foreign[left]) * width + english[right]
                count += 1
    return result


@numba.njit(cache=True)
def expect(shares, numbers, foreign_at, english_at):
    """Divides each English word of a text among the pieces of the text, by the shares so far."""
    counts = np.zeros(len(shares))
    at = 0
    for text in range(len(foreign_at) - 1):
        height = foreign_at[text + 1] - foreign_at[text]
        width = english_at[text + 1] - english_at[text]
        for right in range(width):
            total = 1e-6
            for left in range(height):
                total += shares[numbers[at + left * width + right]]
            for left in range(height):
                number = numbers[at + left * width + right]
                counts[number] += shares[number] / total
        at += height * width
    return counts


def translate(pieces, words, count, width):
    """By piece the English words that translate it, with their share and occurrences; and the counts of the pieces."""
    kept = [(left, right) for left, right in zip(pieces, words) if 0 < len(left) <= LONGEST and 0 < len(right) <= LONGEST]
    foreign = np.array([one for left, _ in kept for one in left], np.int32)
    english = np.array([one for _, right in kept for one in right], np.int32)
    foreign_at = np.cumsum([0] + [len(left) for left, _ in kept])
    english_at = np.cumsum([0] + [len(right) for _, right in kept])
    size = int((np.diff(foreign_at) * np.diff(english_at)).sum())
    pairs, numbers = np.unique(cells(foreign, english, foreign_at, english_at, size, width), return_inverse=True)
    numbers = numbers.astype(np.int32)
    left, right = pairs // width, pairs % width
    shares = np.ones(len(pairs))
    for _ in range(ROUNDS):
        occurrences = expect(shares, numbers, foreign_at, english_at)
        shares = occurrences / (np.bincount(left, occurrences, minlength=count)[left] + 0.5)
    found = {}
    for at in np.lexsort((right, -occurrences, left)):
        if shares[at] > MIN_SHARE and occurrences[at] > MIN_OCCURRENCES:
            found.setdefault(int(left[at]), []).append((int(right[at]), float(shares[at])))
    return found, np.bincount(foreign, minlength=count)


def centred(vectors, groups):
    """Unit vectors without the mean of their group: e5 puts each script apart."""
    vectors = vectors.astype(np.float32)
    for group in set(groups):
        vectors[groups == group] -= vectors[groups == group].mean(0)
    return vectors / (np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9)


def neighbours(english, foreign):
    """The English words nearest to each piece, by CSLS (Conneau et al. 2018), with their scores."""
    sample = foreign[:: max(1, len(foreign) // 8000)]
    near_english = np.concatenate([
        np.partition(english[at : at + 2000] @ sample.T, -NEIGHBOURS, axis=1)[:, -NEIGHBOURS:].mean(1)
        for at in range(0, len(english), 2000)
    ])  # fmt: skip
    found, scores = [], []
    for at in range(0, len(foreign), 1000):
        cosines = foreign[at : at + 1000] @ english.T
        near = np.partition(cosines, -NEIGHBOURS, axis=1)[:, -NEIGHBOURS:].mean(1, keepdims=True)
        score = 2 * cosines - near - near_english
        best = np.argpartition(-score, CANDIDATES, axis=1)[:, :CANDIDATES]
        order = np.argsort(-np.take_along_axis(score, best, 1), axis=1, kind="stable")
        best = np.take_along_axis(best, order, 1)
        found.append(best)
        scores.append(np.take_along_axis(score, best, 1))
    return np.concatenate(found), np.concatenate(scores)


def glosses(piece, translations, count, near, is_latin):
    """English words for a piece with their weights, and how sure they are, 0 to 1."""
    weights, sure = Counter(), 0.0
    trust = count / (count + 3)
    for word, share in translations:
        weights[word] += trust * share
    if translations:
        sure = trust * translations[0][1]
    if near is None or near[0][1] <= 0.12:
        return weights, sure
    shares = [(word, np.exp((score - near[0][1]) / 0.08) if score > 0.05 else 0.0) for word, score in near]
    total = sum(share for _, share in shares)
    likeness = min(1.0, (near[0][1] - 0.05) / 0.3)
    # e5 takes similar letters for similar meanings.
    if is_latin and near[0][0][:3] == piece[:3]:
        likeness *= 0.6
    part = (1 - 0.8 * trust) * likeness
    for word, share in shares:
        weights[word] += part * share / total
    return weights, max(sure, part)
