#!/usr/bin/env python3
# Small files written by torch.save() in all formats, with the same tensors in each.
#   python3 tests/golden/torch_files.py              writes tests/fuzz/seeds/torch_file/ and tests/golden/torch_files.safetensors
import collections
import pathlib
import pickle
import zipfile

import torch
from golden import save

SEEDS = pathlib.Path(__file__).parent.parent / "fuzz" / "seeds" / "torch_file"

torch.manual_seed(0)
base = torch.randn(5, 7)
shared = torch.randn(3, 4)
TENSORS = collections.OrderedDict({
    "plain": torch.randn(2, 3, 5),
    "parameter": torch.nn.Parameter(torch.randn(4)),
    "scalar": torch.tensor(2.5),
    "nothing": torch.empty(0, 4),
    "half": torch.randn(3, 3).half(),
    "bfloat16": torch.randn(7).bfloat16(),
    "double": torch.tensor([0.1, -1e-3], dtype=torch.float64),
    "long": torch.tensor([[-5, 70000], [1, 2]]),
    "int": torch.tensor([3, -4], dtype=torch.int32),
    "char": torch.tensor([-3, 4, 5], dtype=torch.int8),
    "byte": torch.tensor([0, 127], dtype=torch.uint8),
    "bool": torch.tensor([True, False, True]),
    "transposed": base.t(),
    "columns": base[1:4, 2::2],
    "rows": base[2:4],
    "one.row": base[2:3].t().t(),
    "tied.a": shared,
    "tied.b": shared,
    "größe": torch.ones(1),
})


def state_dict():
    """A state dict with the attribute `_metadata`, as written by PyTorch."""
    tensors = collections.OrderedDict(TENSORS)
    tensors._metadata = collections.OrderedDict({"": {"version": 1}})
    return tensors


def rewritten(source, target, change):
    """Copies an archive. change(name, bytes) returns the new bytes of an entry, or None to remove it."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as new:
        for info in old.infolist():
            data = change(info.filename.split("/", 1)[1], old.read(info))
            if data is not None:
                new.writestr(info.filename, data)


class Command:
    def __reduce__(self):
        import os
        return os.system, ("touch /tmp/attend-was-here",)


SEEDS.mkdir(parents=True, exist_ok=True)
torch.save(state_dict(), SEEDS / "zip")
torch.save(state_dict(), SEEDS / "old", _use_new_zipfile_serialization=False)
torch.save(dict(state_dict()), SEEDS / "protocol4", pickle_protocol=4)
torch.save(state_dict(), SEEDS / "old_protocol4", pickle_protocol=4, _use_new_zipfile_serialization=False)

def swap(name, data):
    """The file that a big-endian machine would write."""
    if name == "byteorder":
        return b"big"
    if not name.startswith("data/"):
        return data
    size = ELEMENT_SIZES[name[5:]]
    return b"".join(data[i:i + size][::-1] for i in range(0, len(data), size))


class Sizes(pickle.Unpickler):
    """Reads the element size of each storage from the pickle."""
    def find_class(self, module, name):
        return name if name.endswith("Storage") else (lambda *arguments: collections.OrderedDict())

    def persistent_load(self, pid):
        ELEMENT_SIZES[pid[2]] = getattr(torch, pid[1])._dtype.itemsize


ELEMENT_SIZES = {}
with zipfile.ZipFile(SEEDS / "zip") as archive:
    Sizes(archive.open("zip/data.pkl")).load()
rewritten(SEEDS / "zip", SEEDS / "big_endian", swap)
rewritten(SEEDS / "zip", SEEDS / "no_byteorder", lambda name, data: None if name == "byteorder" else data)

torch.save({"a": torch.ones(2), "b": Command()}, SEEDS / "command")
torch.save({"model": TENSORS["plain"], "epoch": 3}, SEEDS / "checkpoint")
torch.save([TENSORS["plain"]], SEEDS / "list")
torch.save({"a": torch.ones(1).expand(1000)}, SEEDS / "expanded")

for path in sorted(SEEDS.iterdir()):
    print(f"{path.name}: {path.stat().st_size:,} bytes")
save("torch_files", {name: value.detach().float() for name, value in TENSORS.items()})
