# Common code of the scripts that write golden files. They need PyTorch; the tests only read the results.
import json
import pathlib
import struct

import numpy
import torch

FOLDER = pathlib.Path(__file__).parent
TYPES = {"float32": "F32", "int32": "I32", "int8": "I8"}


def save(name, tensors):
    """Writes tests/golden/NAME.safetensors. Converts floating-point numbers to float32, integers to int32, booleans to int8."""
    header, data = {}, b""
    for key, value in tensors.items():
        array = value.detach().numpy() if isinstance(value, torch.Tensor) else numpy.asarray(value)
        kind = {"f": "float32", "i": "int32", "b": "int8"}[array.dtype.kind]
        raw = numpy.ascontiguousarray(array.astype(kind)).tobytes()
        raw_end = len(data) + len(raw)
        header[key] = {"dtype": TYPES[kind], "shape": list(array.shape), "data_offsets": [len(data), raw_end]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    path = FOLDER / f"{name}.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    print(f"{path.name}: {len(header)} tensors, {path.stat().st_size:,} bytes")
