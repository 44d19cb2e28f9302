"""What dump.ts wrote, and how a choice of blocks is scored."""
import json
import re
import zlib
from collections import Counter
from urllib.parse import urlparse

import lightgbm
import numpy
from sklearn.model_selection import GroupKFold

SETTINGS = dict(
    objective="cross_entropy", learning_rate=0.06, num_leaves=31, min_data_in_leaf=200, feature_fraction=0.5,
    bagging_fraction=0.7, bagging_freq=1, lambda_l2=5, verbose=-1, num_threads=2, seed=1, deterministic=True,
)
ROUNDS = 150


def words(text):
    return re.findall(r"\w+", text.lower())


def read(name):
    """Pages, the features of all their blocks in a row, and what each feature is called."""
    pages, start = [], 0
    with open(f"{name}.jsonl") as lines:
        for line in lines:
            page = json.loads(line)
            page["words"] = [words(block["text"]) for block in page["blocks"]]
            page["wanted"] = words(page["wanted"])
            page["sizes"] = numpy.array([max(1, len(one)) for one in page["words"]], float)
            page["rows"] = slice(start, start + len(page["words"]))
            start += len(page["words"])
            pages.append(page)
    rows = numpy.fromfile(f"{name}.f32", dtype=numpy.float32).reshape(start, -1)
    return pages, rows, next(page["names"] for page in pages if page["names"])


def labels(page):
    """The share of each block's words that stand in the truth in a run of three."""
    wanted = page["wanted"]
    runs = [set(zip(*(wanted[at:] for at in range(size)))) for size in (1, 2, 3)]
    return [label(block, runs) for block in page["words"]]


def label(block, runs):
    size = min(3, len(block))
    if size == 0:
        return 0.0
    found = numpy.zeros(len(block))
    for at in range(len(block) - size + 1):
        if tuple(block[at : at + size]) in runs[size - 1]:
            found[at : at + size] = 1
    return found.mean()


def weights(pages):
    """Each page weighs alike, a long block more than a short one."""
    roots = [numpy.sqrt(page["sizes"]) for page in pages if len(page["sizes"])]
    return numpy.concatenate([one / one.sum() * 100 for one in roots])


def domains(pages):
    hosts = [zlib.crc32(urlparse(page["url"]).netloc.encode()) for page in pages]
    return numpy.concatenate([numpy.full(len(page["words"]), host) for page, host in zip(pages, hosts)])


def train(rows, wanted, weight):
    return lightgbm.train(SETTINGS, lightgbm.Dataset(rows, wanted, weight=weight), ROUNDS)


def folds(pages):
    groups = domains(pages)
    return GroupKFold(5).split(groups, groups=groups)


def f1(found, wanted):
    if not wanted or not found:
        return float(not wanted and not found)
    right = sum((Counter(found) & Counter(wanted)).values())
    return 2 * right / (len(found) + len(wanted))
