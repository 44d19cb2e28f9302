"""Trafilatura beside us: a path a line in, a JSON line {text, ms} out. The HTML is decoded before the clock starts."""
import gzip
import json
import sys
import time

import trafilatura

for line in sys.stdin:
    with gzip.open(line.rstrip("\n"), "rt", encoding="utf8", errors="replace") as file:
        html = file.read()
    started = time.perf_counter()
    text = trafilatura.extract(html, include_comments=False)
    ms = (time.perf_counter() - started) * 1000
    print(json.dumps({"text": text or "", "ms": ms}), flush=True)
