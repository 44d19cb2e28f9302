"""Draws the vectors of texts that belong together closer than those of other texts: InfoNCE over pairs, while the texts
of the training stay near the vectors of the teacher.
"""

import numba
import numpy as np

# How often a pair of each kind is drawn.
SHARES = {"use": 1, "intent": 1, "operation": 0.5, "command": 0.3, "tool": 2, "server": 1, "part": 0.5, "service": 2,
          "example": 3}  # fmt: skip
STEPS, BATCH, TEXTS = 900, 512, 1024
TEMPERATURE, WEIGHT_OF_TEACHER = 0.05, 10.0
HIGH, LOW = 1e-3, 1e-4


@numba.njit(fastmath=True, cache=True)
def sums(table, indices, offsets, texts):
    result = np.zeros((texts.shape[0], table.shape[1]), dtype=np.float32)
    for at in range(texts.shape[0]):
        for place in range(offsets[texts[at]], offsets[texts[at] + 1]):
            row = table[indices[place]]
            for axis in range(table.shape[1]):
                result[at, axis] += row[axis]
    return result


@numba.njit(fastmath=True, cache=True)
def step(table, first, second, steps, seen, touched, gradients, number, indices, offsets, texts, slopes, rate):
    """One step of sparse Adam, by the gradients of the sums of texts."""
    size, count = table.shape[1], 0
    beta1, beta2 = np.float32(0.9), np.float32(0.999)
    for at in range(texts.shape[0]):
        for place in range(offsets[texts[at]], offsets[texts[at] + 1]):
            index = indices[place]
            if seen[index] != number:
                seen[index] = number
                touched[count] = index
                count += 1
                gradients[index, :] = 0
            for axis in range(size):
                gradients[index, axis] += slopes[at, axis]
    for at in range(count):
        index = touched[at]
        steps[index] += 1
        correct1 = np.float32(1 - beta1 ** steps[index])
        correct2 = np.float32(1 - beta2 ** steps[index])
        for axis in range(size):
            gradient = gradients[index, axis]
            first[index, axis] = beta1 * first[index, axis] + (1 - beta1) * gradient
            second[index, axis] = beta2 * second[index, axis] + (1 - beta2) * gradient * gradient
            rise = (first[index, axis] / correct1) / (np.sqrt(second[index, axis] / correct2) + np.float32(1e-9))
            table[index, axis] -= rate * rise


def unit(vectors):
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    return vectors / lengths, lengths


def through_unit(slopes, units, lengths):
    return (slopes - (slopes * units).sum(1, keepdims=True) * units) / lengths


def contrast(table, indices, offsets, pairs, groups, shares, texts, targets, weights, seed=1, log=print):
    """A trained copy of the table. `pairs` are numbers of texts, [count, 2]; two pairs of one group, unless it is -1,
    are no counter-examples of each other. `texts` are the numbers of the texts with vectors of the teacher."""
    table = table.copy()
    chance = np.random.default_rng(seed)
    first, second, gradients = np.zeros_like(table), np.zeros_like(table), np.zeros_like(table)
    steps, touched = np.zeros(len(table), dtype=np.int64), np.empty(len(table), dtype=np.int64)
    seen = np.full(len(table), -1, dtype=np.int64)
    drawn = chance.choice(len(pairs), size=(STEPS, BATCH), p=shares / shares.sum())
    taught = chance.choice(len(texts), size=(STEPS, TEXTS), p=weights / weights.sum())
    diagonal = np.arange(BATCH)
    for number in range(STEPS):
        (left, right), group = pairs[drawn[number]].T, groups[drawn[number]]
        lefts, left_lengths = unit(sums(table, indices, offsets, left))
        rights, right_lengths = unit(sums(table, indices, offsets, right))
        scores = lefts @ rights.T / TEMPERATURE
        same = (group[:, None] == group[None, :]) & (group[:, None] >= 0)
        same |= (left[:, None] == left[None, :]) | (right[:, None] == right[None, :])
        same[diagonal, diagonal] = False
        scores[same] = -1e9
        by_row = np.exp(scores - scores.max(1, keepdims=True))
        by_row /= by_row.sum(1, keepdims=True)
        by_column = np.exp(scores - scores.max(0, keepdims=True))
        by_column /= by_column.sum(0, keepdims=True)
        slopes = by_row + by_column
        slopes[diagonal, diagonal] -= 2
        slopes /= 2 * TEMPERATURE * BATCH
        known, goals = texts[taught[number]], targets[taught[number]]
        units, lengths = unit(sums(table, indices, offsets, known))
        cosines = (units * goals).sum(1, keepdims=True)
        all_slopes = np.concatenate([
            through_unit(slopes @ rights, lefts, left_lengths),
            through_unit(slopes.T @ lefts, rights, right_lengths),
            WEIGHT_OF_TEACHER / TEXTS * (cosines * units - goals) / lengths,
        ])  # fmt: skip
        rate = np.float32(HIGH + (LOW - HIGH) * number / STEPS)
        step(table, first, second, steps, seen, touched, gradients, number, indices, offsets,
             np.concatenate([left, right, known]), all_slopes.astype(np.float32), rate)  # fmt: skip
        if (number + 1) % 300 == 0:
            loss = -np.log(by_row[diagonal, diagonal] + 1e-9).mean()
            log(f"step {number + 1}: loss {loss:.3f}, cosine {cosines.mean():.4f}")
    return table
