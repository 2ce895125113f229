"""Models of two layers with random weights, for real model servers: `PYTHON -m tests.tiny_models KIND FOLDER`.

KIND is `text` or `vision`. PYTHON has torch and transformers; nothing is downloaded: the tokenizer is trained on the
project's own prompts. The weights are random but for a leaning to quotation marks, without which a model that was
never trained would hardly ever end a string.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    Idefics3Config,
    Idefics3ForConditionalGeneration,
    Idefics3Processor,
    Idefics3VisionConfig,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)
from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil

ROOT = Path(__file__).resolve().parents[1]
CONTEXT = 8192
PICTURE_SIDE = 56
PATCH_SIDE = 14
PICTURE_SHRINK = 2
END, IMAGE = "<end_of_utterance>", "<image>"
MARKS = [END, IMAGE, "<fake_token_around_image>", "<global-img>"]
TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>\n"
    "{% if message.content is string %}{{ message.content }}{% else %}"
    "{% for part in message.content %}{% if part.type == 'text' %}{{ part.text }}{% else %}<image>{% endif %}"
    "{% endfor %}{% endif %}<end_of_utterance>\n{% endfor %}<|assistant|>\n"
)
"""Each message between marks; a picture where it stands in the message."""

_WIDTH = 128
_LEANING = 4.0


def main(kind: str, folder: Path) -> None:
    """Make the model and what belongs to it."""
    torch.manual_seed(0)
    tokenizer = _tokenizer()
    if kind == "text":
        _leaning(LlamaForCausalLM(_text_config(tokenizer)), tokenizer).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    else:
        _leaning(Idefics3ForConditionalGeneration(_vision_config(tokenizer)), tokenizer).save_pretrained(folder)
        _processor(tokenizer).save_pretrained(folder)


def _tokenizer() -> PreTrainedTokenizerFast:
    """Bytes, and what is frequent in the prompts."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    prompts = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("*/**/*.md"))]
    trainer = trainers.BpeTrainer(
        vocab_size=2048, special_tokens=MARKS, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(prompts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=END,
        chat_template=TEMPLATE,
        model_max_length=CONTEXT,
    )


def _text_config(tokenizer: PreTrainedTokenizerFast) -> LlamaConfig:
    end = tokenizer.convert_tokens_to_ids(END)
    return LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=_WIDTH,
        intermediate_size=2 * _WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,  # heads of 64: the server has no kernel for very small ones
        num_key_value_heads=2,
        max_position_embeddings=CONTEXT,
        bos_token_id=None,
        eos_token_id=end,
        pad_token_id=end,
        dtype="float32",
    )


def _vision_config(tokenizer: PreTrainedTokenizerFast) -> Idefics3Config:
    seeing = Idefics3VisionConfig(
        hidden_size=_WIDTH,
        intermediate_size=2 * _WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=PICTURE_SIDE,
        patch_size=PATCH_SIDE,
    )
    return Idefics3Config(
        vision_config=seeing,
        text_config=_text_config(tokenizer),
        image_token_id=tokenizer.convert_tokens_to_ids(IMAGE),
        pad_token_id=tokenizer.pad_token_id,
        scale_factor=PICTURE_SHRINK,
        dtype="float32",
    )


def _processor(tokenizer: PreTrainedTokenizerFast) -> Idefics3Processor:
    edge = {"longest_edge": PICTURE_SIDE}
    pictures = Idefics3ImageProcessorPil(do_image_splitting=False, size=edge, max_image_size=edge)
    tokens = (PICTURE_SIDE // PATCH_SIDE // PICTURE_SHRINK) ** 2
    return Idefics3Processor(pictures, tokenizer, image_seq_len=tokens, chat_template=TEMPLATE)


def _leaning(model: LlamaForCausalLM | Idefics3ForConditionalGeneration, tokenizer: PreTrainedTokenizerFast) -> Any:
    """Give one width of the embedding a constant, and let the last layer read it in favour of some tokens."""
    with torch.no_grad():
        model.get_input_embeddings().weight[:, 0] = 10.0
        last = model.get_output_embeddings().weight
        last[:, 0] = 0.0
        for text, token in tokenizer.get_vocab().items():
            if text in ('"', '",', '"}'):
                last[token, 0] = _LEANING
    return model


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
