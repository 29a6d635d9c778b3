#!/usr/bin/env python3
# A GGUF file with a tensor in each block format, written by the gguf package of llama.cpp, and the weights that this
# package decodes from it. Blocks of the K formats, which the package cannot make, are random bytes with sensible scales.
#   python3 tests/golden/gguf_blocks.py      writes tests/golden/gguf_blocks.gguf and gguf_blocks.safetensors
import pathlib

import gguf
import numpy as np
import torch
from golden import save
from gguf import GGMLQuantizationType as Type

HERE = pathlib.Path(__file__).resolve().parent
random = np.random.default_rng(1)
values = random.standard_normal((3, 64)).astype(np.float32)
writer = gguf.GGUFWriter(str(HERE / "gguf_blocks.gguf"), "llama")
writer.add_uint64("large", 1 << 40)
writer.add_int8("negative", -7)
writer.add_float64("exact", 0.1)
writer.add_array("scores", [0.5, -1.5])
writer.add_array("kinds", [1, -3])
writer.add_array("flags", [True, False])
writer.add_string("name", "a model")
expected = {}


def add(name, raw, kind):
    writer.add_tensor(name, raw, raw_dtype=kind)
    expected[name] = torch.from_numpy(gguf.quants.dequantize(raw, kind).astype(np.float32))


for kind in (Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0, Type.BF16):
    add(kind.name, gguf.quants.quantize(values, kind), kind)
for kind, scales in ((Type.Q4_K, (0, 2)), (Type.Q5_K, (0, 2)), (Type.Q6_K, (208,))):
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    raw = random.integers(0, 256, (2, 2 * size), dtype=np.uint8)
    for block in range(2):
        for at in scales:
            raw[:, block * size + at:block * size + at + 2] = \
                random.uniform(0.001, 0.01, (2, 1)).astype(np.float16).view(np.uint8)
    add(kind.name, raw, kind)
writer.add_tensor("F16", values.astype(np.float16))
expected["F16"] = torch.from_numpy(values.astype(np.float16).astype(np.float32))
writer.add_tensor("F32", values)
expected["F32"] = torch.from_numpy(values)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
save("gguf_blocks", expected)
