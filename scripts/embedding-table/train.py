"""Texts as features of a table, which are their word pieces and frequent sequences of pieces, and the training of the
rows of models/languages: the normalised sum of a text's rows comes as close as it can to the vector of its target.
"""

from collections import Counter

import numba
import numpy as np
from tokenizers import Tokenizer

LONGEST = 254
UNKNOWN = 100


# --- texts to features -------------------------------------------------------------------------------------------


def tokenise(texts, files):
    """The ids of each text's pieces, without the marks at both ends."""
    tokenizer = Tokenizer.from_str(files["tokenizer.json"].decode())
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    return [np.array(one.ids, dtype=np.int32) for one in tokenizer.encode_batch(texts, add_special_tokens=False)]


def find_sequences(tokens, most, least=12):
    """Frequent neighbours as [count, 2] (left, right): by count times log of association, most telling first."""
    single, pairs = Counter(), Counter()
    for ids in tokens:
        single.update(ids.tolist())
        pairs.update(zip(ids[:-1].tolist(), ids[1:].tolist()))
    total = sum(single.values())
    scored = []
    for (left, right), count in pairs.items():
        if count < least or UNKNOWN in (left, right):
            continue
        association = np.log(count * total / (single[left] * single[right]))
        scored.append((count * association, left, right))
    scored.sort(reverse=True)
    return np.array([(left, right) for _, left, right in scored[:most]], dtype=np.int32).reshape(-1, 2)


def features(tokens, sequences, pieces):
    """All features of all texts: (indices, offsets); text i has indices[offsets[i]:offsets[i + 1]]."""
    lookup = {(int(left), int(right)): pieces + at for at, (left, right) in enumerate(sequences)}
    indices, offsets = [], [0]
    for ids in tokens:
        listed = ids.tolist()
        found = [one for one in listed if one != UNKNOWN]
        previous = []
        for at, right in enumerate(listed):
            ends = []
            if at > 0:
                for left in (listed[at - 1], *previous):
                    sequence = lookup.get((left, right))
                    if sequence is not None:
                        ends.append(sequence)
            found += ends
            previous = ends
        indices += found
        offsets.append(len(indices))
    return np.array(indices, dtype=np.int32), np.array(offsets, dtype=np.int64)


# --- training ----------------------------------------------------------------------------------------------------


@numba.njit(fastmath=True, cache=True)
def epoch(table, first, second, steps, indices, offsets, targets, weights, order, batch, rates, beta1, beta2, fixed):
    """One pass of sparse Adam over the texts, in order; the loss is 1 - cosine. Returns the mean cosine.

    The rows from `fixed` on do not change."""
    size = table.shape[1]
    gradients = np.zeros((table.shape[0], size), dtype=np.float32)
    seen = np.full(table.shape[0], -1, dtype=np.int64)
    touched = np.empty(table.shape[0], dtype=np.int64)
    total = 0.0
    sentence = np.empty(size, dtype=np.float32)
    slope = np.empty(size, dtype=np.float32)
    batches = (order.shape[0] + batch - 1) // batch
    for number in range(batches):
        count = 0
        for at in range(number * batch, min((number + 1) * batch, order.shape[0])):
            text = order[at]
            start, end = offsets[text], offsets[text + 1]
            if start == end:
                continue
            sentence[:] = 0
            for place in range(start, end):
                row = table[indices[place]]
                for axis in range(size):
                    sentence[axis] += row[axis]
            norm = np.float32(0)
            dot = np.float32(0)
            target = targets[text]
            for axis in range(size):
                norm += sentence[axis] * sentence[axis]
                dot += sentence[axis] * target[axis]
            norm = np.sqrt(norm) + np.float32(1e-9)
            cosine = dot / norm
            total += cosine
            weight = weights[text]
            for axis in range(size):
                slope[axis] = weight * (cosine * sentence[axis] / norm - target[axis]) / norm
            for place in range(start, end):
                index = indices[place]
                if index >= fixed:
                    continue
                if seen[index] != number:
                    seen[index] = number
                    touched[count] = index
                    count += 1
                    gradients[index, :] = 0
                row = gradients[index]
                for axis in range(size):
                    row[axis] += slope[axis]
        rate = rates[number]
        for at in range(count):
            index = touched[at]
            steps[index] += 1
            correct1 = np.float32(1 - beta1 ** steps[index])
            correct2 = np.float32(1 - beta2 ** steps[index])
            for axis in range(size):
                gradient = gradients[index, axis] / batch
                one = beta1 * first[index, axis] + (1 - beta1) * gradient
                two = beta2 * second[index, axis] + (1 - beta2) * gradient * gradient
                first[index, axis] = one
                second[index, axis] = two
                table[index, axis] -= rate * (one / correct1) / (np.sqrt(two / correct2) + np.float32(1e-9))
        seen[:] = -1
    return total / order.shape[0]


def train(table, indices, offsets, targets, weights=None, epochs=8, batch=512, high=2e-3, low=2e-4, seed=1, log=print,
          fixed=None):  # fmt: skip
    """Adam whose rate falls linearly from `high` to `low`; bias correction counts a row's own steps."""
    chance = np.random.default_rng(seed)
    texts = len(offsets) - 1
    weights = np.ones(texts, dtype=np.float32) if weights is None else weights
    fixed = len(table) if fixed is None else fixed
    first, second = np.zeros_like(table), np.zeros_like(table)
    steps = np.zeros(len(table), dtype=np.int64)
    batches = (texts + batch - 1) // batch
    rates = np.linspace(high, low, epochs * batches).astype(np.float32)
    for number in range(epochs):
        order = chance.permutation(texts)
        mean = epoch(table, first, second, steps, indices, offsets, targets, weights, order, batch,
                     rates[number * batches : (number + 1) * batches], np.float32(0.9), np.float32(0.999), fixed)  # fmt: skip
        log(f"epoch {number + 1}: cosine {mean:.4f}")
    return table


@numba.njit(fastmath=True, cache=True)
def embed(table, indices, offsets):
    """Unit vectors of texts, by their features."""
    result = np.zeros((offsets.shape[0] - 1, table.shape[1]), dtype=np.float32)
    for text in range(result.shape[0]):
        for place in range(offsets[text], offsets[text + 1]):
            row = table[indices[place]]
            for axis in range(table.shape[1]):
                result[text, axis] += row[axis]
        norm = np.sqrt((result[text] * result[text]).sum())
        if norm > 0:
            result[text] /= norm
    return result


def quantise(table):
    """int8 rows and their scales."""
    scales = np.abs(table).max(1) / 127
    rows = np.round(table / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8)
    return rows, scales.astype(np.float32)
