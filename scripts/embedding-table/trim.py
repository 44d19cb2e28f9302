"""Drops the rows of words that the lists of words translate where these tell all that search needs of them: it reads
the words by their English, and knows a text by them as it does by a row of common odds. Drops the rows of names of
products, too.

Usage: python trim.py LANGUAGES ENGLISH

LANGUAGES: a folder as languages.py writes it, with the lists in `words`; it is changed in place, and its manifest with
it. ENGLISH: the folder of the English table. Words in Han keep their rows, which two languages have; so do words in Latin
letters that the English table has, or whose odds are not those of common words of other languages.
"""

import hashlib
import json
import re
import sys
import unicodedata
from pathlib import Path

OWN_LETTERS = re.compile(r"[\u0430-\u045f]+|[\uac00-\ud7a3]+|[\u3040-\u30ff]+")
LATIN = re.compile(r"[a-zßæøœıđł]+")
"""In twentieths: `oddsOfForeign` of src/search/embedders/static/languages.ts is among them."""
COMMON_ODDS = range(30, 81)
PRODUCTS = {"vue", "vite", "udio"}
"""Words of French and Italian that requests rather use as names."""
KEEPS_MARKS = re.compile(r"[\u0900-\u097f\uac00-\ud7a3\u3040-\u30ff]")
BYTES = {"rows.bin": 256, "scales.bin": 4, "facts.bin": 5}


def normal_form(text):
    """As `normalForm` of src/search/embedders/static/writing.ts has it for these letters."""
    lower = unicodedata.normalize("NFKC", text).lower()
    return "".join(character if KEEPS_MARKS.match(character) else unmarked(character) for character in lower)


def unmarked(character):
    parts = unicodedata.normalize("NFD", character)
    return "".join(part for part in parts if unicodedata.category(part) != "Mn")


def listed(folder):
    words = set()
    for path in (folder / "words").glob("*.txt"):
        for line in path.read_text().splitlines():
            _, _, forms = normal_form(line.split("#")[0]).partition("=")
            words.update(form.strip() for form in forms.split(","))
    return words


def main():
    folder, english = map(Path, sys.argv[1:])
    manifest = json.loads((folder / "manifest.json").read_text())
    words = listed(folder)
    pieces = (folder / "vocabulary.txt").read_text().removesuffix("\n").split("\n")
    english_words = set((english / "vocabulary.txt").read_text().split("\n"))
    facts = (folder / "facts.bin").read_bytes()

    def is_needed(at, piece):
        if piece in PRODUCTS:
            return False
        if piece not in words or OWN_LETTERS.fullmatch(piece):
            return piece not in words
        if not LATIN.fullmatch(piece) or piece in english_words:
            return True
        odds = int.from_bytes(facts[at * 5 : at * 5 + 1], signed=True)
        return odds not in COMMON_ODDS

    kept = [at for at, piece in enumerate(pieces) if is_needed(at, piece)]
    contents = {"vocabulary.txt": "".join(f"{pieces[at]}\n" for at in kept).encode()}
    for name, size in BYTES.items():
        content = (folder / name).read_bytes()
        assert len(content) == size * len(pieces), f"{name} has {len(content)} bytes for {len(pieces)} pieces"
        contents[name] = b"".join(content[at * size : (at + 1) * size] for at in kept)
    manifest["pieces"] = len(kept)
    for name, content in contents.items():
        (folder / name).write_bytes(content)
        manifest["files"][name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    print(f"{len(pieces) - len(kept)} of {len(pieces)} rows dropped")


main()
