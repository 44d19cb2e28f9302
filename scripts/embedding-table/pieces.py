"""The pieces of the table of languages, and how a text is cut into them. src/search/embedders/static/languages.ts
does the same.
"""

import math
import re
import unicodedata
from collections import Counter
from functools import cache

UNSPACED = re.compile(r"[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々]+")
HANGUL = re.compile(r"[\uac00-\ud7a3]+")
LATIN = re.compile(r"[a-zßæøœıđł]+")
CYRILLIC = re.compile(r"[\u0430-\u045f]+")
RUN = re.compile("|".join(one.pattern for one in (UNSPACED, HANGUL, LATIN, CYRILLIC)))
LATIN_LANGUAGES = ("de", "es", "fr", "it", "pt")
# Least bytes of a piece within a word.
LEAST = {LATIN: 3, CYRILLIC: 6}
MIN_COVERED = 0.6
MAX_ENGLISH = -2.5
# A word of the texts that is no piece of e5 gets a row from this number of occurrences on.
MIN_COUNT = 6
LONGEST_WORD = 24
SHORTEST_STEM, LONGEST_ENDING, MIN_STEM_COUNT = 5, 3, 4


@cache
def folded(one):
    """A character without its accents; kana and Hangul keep their marks."""
    if "\u3040" <= one <= "\u30ff" or "\uac00" <= one <= "\ud7a3":
        return one
    return "".join(part for part in unicodedata.normalize("NFD", one) if unicodedata.category(part) != "Mn")


def normalise(text):
    text = unicodedata.normalize("NFKC", text).lower()
    return text if text.isascii() else "".join(map(folded, text))


def script_of(word):
    return next((one for one in (UNSPACED, HANGUL, LATIN, CYRILLIC) if one.fullmatch(word)), None)


def grams(word):
    word = f"^{word}$"
    return [word[at : at + size] for size in (1, 2, 3, 4) for at in range(len(word) - size + 1) if word[at : at + size] not in "^$"]  # fmt: skip


class Guess:
    """Guesses by its letters which list a word belongs to (naive Bayes over up to four letters)."""

    def __init__(self, lists):
        self.models = []
        for counts in lists:
            weights = Counter()
            for word, count in counts.items():
                for gram in grams(word):
                    weights[gram] += math.log1p(count)
            self.models.append((weights, sum(weights.values())))
        self.distinct = len(set().union(*(weights for weights, _ in self.models)))

    def __call__(self, word):
        scores = [
            sum(math.log((weights.get(gram, 0) + 0.5) / (total + 0.5 * self.distinct)) for gram in grams(word)) / 1.6
            for weights, total in self.models
        ]
        highest = max(scores)
        shares = [math.exp(score - highest) for score in scores]
        return [share / sum(shares) for share in shares]


class Counts:
    """Words of the texts by language, and of English."""

    def __init__(self, pairs, english, others):
        self.by_language = {
            language: Counter(word for text, _ in found for word in RUN.findall(normalise(text)))
            for language, found in pairs.items()
        }
        self.english = Counter(word for _, text in pairs["de"] for word in LATIN.findall(normalise(text)))
        self.english.update(LATIN.findall(normalise(english)))
        words = RUN.findall(normalise(others))
        self.others = Counter(words)
        self.all_latin = sum(sum(self.by_language[language].values()) for language in LATIN_LANGUAGES)
        self.all_english = sum(self.english.values())

    def latin(self, word):
        return sum(self.by_language[language][word] for language in LATIN_LANGUAGES)


def select(e5_pieces, counts):
    """The pieces: those of e5 that belong to our languages, then frequent words. {piece: (score, written, share)}."""
    latin = Guess([*(counts.by_language[one] for one in LATIN_LANGUAGES), counts.english, only(counts.others, LATIN)])
    russian = Guess([counts.by_language["ru"], only(counts.others, CYRILLIC)])
    best = {}
    for piece, score in e5_pieces:
        written = piece.lstrip("▁")
        key = normalise(written)
        known = best.get(key)
        starts = piece.startswith("▁") or (known is not None and known[2])
        if key and (known is None or score > known[0]):
            best[key] = (score, written, starts)
        elif key:
            best[key] = (known[0], known[1], starts)
    chosen = {}
    for key, (score, written, starts) in best.items():
        script = script_of(key)
        if script in (UNSPACED, HANGUL):
            chosen[key] = (score, written, 0.0)
        elif script is CYRILLIC and len(key) > 1:
            share = russian(key)[0]
            if counts.by_language["ru"][key] or (starts and share > 0.35) or (len(key) >= 4 and share > 0.5):
                chosen[key] = (score, written, share)
        elif script is LATIN and len(key) > 1:
            share = sum(latin(key)[: len(LATIN_LANGUAGES)])
            seen, english = counts.latin(key), counts.english[key]
            frequent = seen >= 2 and seen / counts.all_latin > 0.3 * english / counts.all_english
            if frequent or (not english and (share > 0.4 if starts else len(key) >= 4 and share > 0.6)):
                chosen[key] = (score, written, share)
    for language, found in counts.by_language.items():
        script = {"ru": CYRILLIC, "ko": HANGUL}.get(language, LATIN)
        for word, count in found.items():
            is_new = word not in chosen and count >= MIN_COUNT and 3 <= len(word) <= LONGEST_WORD
            if not is_new or language in ("ja", "zh") or not script.fullmatch(word):
                continue
            if script is LATIN and count / counts.all_latin < counts.english[word] / counts.all_english:
                continue
            chosen[word] = (-20.0, word, 1.0)
    for stem in stems(chosen, counts):
        chosen[stem] = (-20.0, stem, 0.95)
    return chosen


def stems(chosen, counts):
    """Beginnings that words without a row share with words that have one: both differ from it by a short ending."""
    known = Counter()
    for word in chosen:
        if script_of(word) in LEAST:
            known.update(beginnings(word))
    found = Counter()
    for language, words in counts.by_language.items():
        scripts = {"ru": (CYRILLIC,)}.get(language, (LATIN,) if language in LATIN_LANGUAGES else ())
        for word, count in words.items():
            if word in chosen or script_of(word) not in scripts:
                continue
            stem = next((one for one in beginnings(word) if one in chosen or known[one]), None)
            if stem is not None and stem not in chosen:
                found[stem] += count
    return [stem for stem, count in found.items() if count >= MIN_STEM_COUNT]


def beginnings(word):
    return [word[:-size] for size in range(1, LONGEST_ENDING + 1) if len(word) - size >= SHORTEST_STEM]


def only(counts, script):
    return Counter({word: count for word, count in counts.items() if script.fullmatch(word)})


class Cutter:
    """Cuts texts into pieces, the longest first. `known` holds the whole words of the English table."""

    def __init__(self, chosen, counts, known):
        self.keys = sorted(chosen, key=lambda key: (-chosen[key][0], key))
        self.ids = {key: at for at, key in enumerate(self.keys)}
        self.longest = max(map(len, self.keys))
        self.known = known
        self.odds = [self.log_odds(key, chosen[key][2], counts) for key in self.keys]
        self.cuts = {}

    def log_odds(self, word, share, counts):
        """The logarithm of the odds that a Latin word is of our languages and not English."""
        if script_of(word) is not LATIN:
            return 6.0
        english = counts.english[word]
        if word not in self.known:
            share = max(share, 0.6) if english else 0.95
        ours = counts.latin(word) / counts.all_latin * 1e6 + 2 * share
        theirs = english / counts.all_english * 1e6 + 2 * (1 - share)
        return max(-6.0, min(6.0, math.log((ours + 0.1) / (theirs + 0.1))))

    def __call__(self, text, latin=True):
        """The pieces of a text of another language, and the words that the English table reads."""
        found, rest = [], []
        for word in RUN.findall(normalise(text)):
            if not latin and LATIN.fullmatch(word):
                rest.append(word)
                continue
            if word not in self.cuts:
                self.cuts[word] = self.cut(word)
            ids = self.cuts[word]
            if ids is None:
                rest.append(word)
            else:
                found += ids
        return found, rest

    def cut(self, word):
        script = script_of(word)
        whole = self.ids.get(word)
        if whole is not None:
            return None if script is LATIN and self.odds[whole] < MAX_ENGLISH else [whole]
        if script is LATIN and word in self.known:
            return None
        ids, covered, start, least = [], 0, 0, LEAST.get(script, 1)
        while start < len(word):
            ends = range(min(len(word), start + self.longest), start, -1)
            end = next((end for end in ends if word[start:end] in self.ids), start)
            size = len(word[start:end].encode())
            if end > start and size >= least:
                ids.append(self.ids[word[start:end]])
                covered += size
                start = end
            else:
                start += 1
        return None if script is LATIN and covered < MIN_COVERED * len(word.encode()) else ids
