"""The Hugging Face peers of encoder_decoder_bench.cpp: T5ForConditionalGeneration and BartForConditionalGeneration.

transformers chooses the attention: for BART PyTorch's scaled_dot_product_attention, which is the faster one here; T5 has only
the "eager" one.
"""
import os

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
import torch
from transformers import BartConfig, BartForConditionalGeneration, T5Config, T5ForConditionalGeneration
from torch_job import job, serve

TOKENS = 64
kept = {}


def t5_small():
    return T5ForConditionalGeneration(T5Config(vocab_size=32128, d_model=512, d_kv=64, d_ff=2048, num_layers=6,
                                               num_heads=8, decoder_start_token_id=0))


def bart_base():
    return BartForConditionalGeneration(BartConfig(vocab_size=50265, d_model=768, encoder_layers=6, decoder_layers=6,
                                                   encoder_attention_heads=12, decoder_attention_heads=12,
                                                   encoder_ffn_dim=3072, decoder_ffn_dim=3072,
                                                   max_position_embeddings=1024))


def model_of(make):
    if make not in kept:
        kept.clear()
        model = kept[make] = make().eval()
        # No token ends a text.
        model.generation_config.eos_token_id = model.generation_config.forced_eos_token_id = None
    return kept[make]


def ids_of(model, texts, length):
    return 3 + torch.arange(texts * length).reshape(texts, length) * 7919 % (model.config.vocab_size - 3)


def generate(make, texts, length, beams):
    model = model_of(make)
    ids = ids_of(model, texts, length)

    def run():
        with torch.inference_mode():
            out = model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), num_beams=beams, do_sample=False,
                                 early_stopping=False, use_cache=True, max_new_tokens=TOKENS)
            assert out.shape == (texts, TOKENS + 1)
    return run


def encode(make, texts, length):
    model = model_of(make)
    ids = ids_of(model, texts, length)

    def run():
        with torch.inference_mode():
            model.get_encoder()(input_ids=ids, attention_mask=torch.ones_like(ids))
    return run


job("t5_small.greedy.32x128")(lambda: generate(t5_small, 32, 128, 1))
job("t5_small.encode.32x128")(lambda: encode(t5_small, 32, 128))
job("bart_base.beam4.8x512")(lambda: generate(bart_base, 8, 512, 4))
job("bart_base.encode.8x512")(lambda: encode(bart_base, 8, 512))

serve()
