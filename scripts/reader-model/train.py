"""python train.py DUMP SHORTENED MODEL.json: the block model, and its recorded rows for the test."""
import base64
import json
import struct
import sys

import numpy

from common import labels, read, train, weights


def export(booster, names):
    splits, leaves, sizes = bytearray(), bytearray(), []
    for tree in booster.dump_model()["tree_info"]:
        inner, outer = {}, {}

        def visit(node):
            if "split_index" not in node:
                outer[node.get("leaf_index", 0)] = node["leaf_value"]
                return -1 - node.get("leaf_index", 0)
            assert node["decision_type"] == "<="
            below, above = visit(node["left_child"]), visit(node["right_child"])
            inner[node["split_index"]] = (node["split_feature"], node["threshold"], below, above)
            return node["split_index"]

        visit(tree["tree_structure"])
        for at in range(len(inner)):
            splits += struct.pack("<Hfhh", *inner[at])
        for at in range(len(outer)):
            leaves += struct.pack("<f", outer[at])
        sizes.append(len(outer))
    encode = lambda data: base64.b64encode(bytes(data)).decode()
    return {"features": names, "splits": encode(splits), "leaves": encode(leaves), "sizes": sizes}


dump, shortened, out = sys.argv[1:4]
pages, rows, names = read(dump)
more, more_rows, _ = read(shortened)
wanted = numpy.array([one for page in pages + more for one in labels(page)])
weight = numpy.concatenate([weights(pages), weights(more)])
booster = train(numpy.vstack([rows, more_rows]), wanted, weight)
booster.save_model(f"{dump}.lightgbm.txt")
with open(out, "w") as file:
    json.dump(export(booster, names), file, indent=2)
    file.write("\n")
recorded = rows[:: len(rows) // 24]
with open(f"{dump}.recorded.json", "w") as file:
    json.dump({"rows": [[round(float(value), 6) for value in row] for row in recorded],
               "probabilities": booster.predict(numpy.round(recorded.astype(float), 6)).tolist()}, file)
