"""The Hugging Face peer of translation_bench.cpp: MarianMTModel.generate."""
import os

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
import torch
from transformers import MarianConfig, MarianMTModel
from torch_job import job, serve

WORDS = 25
BASE = dict(vocab_size=58101, d_model=512, encoder_layers=6, decoder_layers=6, encoder_ffn_dim=2048,
            decoder_ffn_dim=2048)
TINY = dict(vocab_size=32000, d_model=256, encoder_layers=6, decoder_layers=2, encoder_ffn_dim=1536,
            decoder_ffn_dim=1536)
kept = {}


def model_of(sizes):
    if sizes["vocab_size"] not in kept:
        kept.clear()
        last = sizes["vocab_size"] - 1
        kept[sizes["vocab_size"]] = MarianMTModel(MarianConfig(
            **sizes, encoder_attention_heads=8, decoder_attention_heads=8, activation_function="swish",
            scale_embedding=True, static_position_embeddings=True, max_position_embeddings=512, pad_token_id=last,
            eos_token_id=0, decoder_start_token_id=last, forced_eos_token_id=None)).eval()
    return kept[sizes["vocab_size"]]


def translate(sizes, sentences, batch, beams):
    model = model_of(sizes)
    ids = 1 + torch.arange(sentences * WORDS).reshape(sentences, WORDS) * 7919 % (sizes["vocab_size"] - 2)

    def run():
        with torch.inference_mode():
            for part in ids.split(batch):
                out = model.generate(input_ids=part, attention_mask=torch.ones_like(part), num_beams=beams,
                                     do_sample=False, min_new_tokens=WORDS, max_new_tokens=WORDS)
                assert out.shape[1] == WORDS + 1
    return run


for name, sizes, sentences, single in (("marian_base", BASE, 32, 4), ("marian_tiny", TINY, 64, 8)):
    for search, beams in (("greedy", 1), ("beam4", 4)):
        job(f"{name}.{search}.batch32")(lambda s=sizes, n=sentences, b=beams: translate(s, n, 32, b))
        job(f"{name}.{search}.batch1")(lambda s=sizes, n=single, b=beams: translate(s, n, 1, b))

serve()
