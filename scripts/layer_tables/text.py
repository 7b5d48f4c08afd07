"""Language models: a recurrent network and transformers. A sample is a sequence of tokens."""
from .table import Table


def program(fused):
    """How it runs what memory bounds: operation by operation, or one kernel for what stands together
    (scenarios/kernels/operations.h)."""
    return "fused-" if fused else "eager-"


class TextTable(Table):
    def __init__(self, name, paper, variant, tokens, width):
        super().__init__(name, paper, variant, f"a sequence of {tokens:,} tokens")
        self.tokens, self.width = tokens, width

    def embedding(self, name, rows):
        """One row a token."""
        self.add(name, "embedding", self.tokens * self.width, self.tokens * self.width,
                 weight=(rows, self.width))

    def norm(self, name):
        self.pointwise(name, "layer-norm", self.tokens * self.width, weight=(self.width,), bias=(self.width,))

    def add_back(self, name, kind="add"):
        self.pointwise(name, kind, self.tokens * self.width, operands=2)

    def dense(self, name, inputs, outputs, **options):
        self.linear(name, inputs, outputs, rows=self.tokens, **options)

    def attention(self, name, heads, fused):
        """Scores Q K^T and their products with V: tokens^2 width multiply-adds each. Parameters of Q, K
        and V stand in one tensor if `fused`, and what memory bounds is one kernel each."""
        t, d = self.tokens, self.width
        for part in ("qkv",) if fused else ("query", "key", "value"):
            self.dense(f"{name}.{part}", d, 3 * d if fused else d)
        self.add(name + ".scores", "matrix-product", 2 * t * d, heads * t * t, 2 * t * t * d)
        self.pointwise(name + ".softmax", program(fused) + "softmax", heads * t * t)
        self.add(name + ".context", "matrix-product", heads * t * t + t * d, t * d, 2 * t * t * d)
        self.pointwise(name + ".heads", program(fused) + "heads", t * d)
        self.dense(name + ".output", d, d)

    def feed_forward(self, name, fused):
        self.dense(name + ".up", self.width, 4 * self.width)
        self.pointwise(name + ".gelu", program(fused) + "gelu", 4 * self.tokens * self.width)
        self.dense(name + ".down", 4 * self.width, self.width)

    def decode(self, name, words, **options):
        """Logits of every token and their softmax."""
        self.dense(name, self.width, words, **options)
        self.pointwise("softmax", "cross-entropy", self.tokens * words)


def lstm_ptb():
    tokens, width, words = 35, 1500, 10_000
    table = TextTable("lstm-ptb", "Zaremba et al., arXiv 1409.2329 (\"large\"); embedding tied as in arXiv 1611.01462",
                      "Two LSTM layers of 1,500 on Penn Treebank's 10,000 words; the decoder's weight is the "
                      "embedding's; two biases a gate; without dropout.", tokens, width)
    table.embedding("embedding", words)
    gates = (4 * width, width)
    for layer in ("lstm1", "lstm2"):
        # Two matrix-vector products a token, then some 30 operations a unit.
        table.add(layer, "lstm", tokens * width, tokens * width, tokens * (2 * 2 * 4 * width * width + 30 * width),
                  weight_ih=gates, weight_hh=gates, bias_ih=gates[:1], bias_hh=gates[:1])
    table.decode("decoder", words, tied=True)
    return table


def bert_encoder(name, variant, size="large", width=1024, heads=16, depth=24):
    tokens = 512
    table = TextTable(name, "Devlin et al., arXiv 1810.04805", f"BERT-{size}, uncased (30,522 word pieces), {depth} "
                      f"blocks of {width:,}, {heads} heads, {variant}.", tokens, width)
    for part, rows in (("words", 30_522), ("positions", 512), ("segments", 2)):
        table.embedding("embedding." + part, rows)
    table.pointwise("embedding.add", "add", tokens * width, operands=3)
    table.norm("embedding.norm")
    for block in range(depth):
        at = f"block{block}"
        table.attention(at + ".attention", heads, fused=False)
        table.add_back(at + ".add1", "eager-dropout-add")
        table.norm(at + ".norm1")
        table.feed_forward(at + ".ffn", fused=False)
        table.add_back(at + ".add2", "eager-dropout-add")
        table.norm(at + ".norm2")
    table.linear("pooler", width, width)  # of the first token
    table.pointwise("pooler.tanh", "tanh", width)
    return table


def bert_large():
    return bert_encoder("bert-large", "the encoder and its pooler")


def bert_base():
    return bert_encoder("bert-base", "the encoder and its pooler", "base", 768, 12, 12)


def bert_large_pretraining():
    table = bert_encoder("bert-large-pretraining", "with both heads of pre-training (logits of all tokens; the "
                         "decoder's weight is the embedding's)")
    table.linear("next_sentence", table.width, 2)
    table.dense("masked.transform", table.width, table.width)
    table.pointwise("masked.gelu", "eager-gelu", table.tokens * table.width)
    table.norm("masked.norm")
    table.decode("masked.decoder", 30_522, tied=True)
    return table


def gpt2(name, depth, width, heads):
    tokens, words = 1024, 50_257
    table = TextTable(name, "Radford et al., 2019, table 2", f"GPT-2 with {depth} blocks of {width:,}, {heads} heads; "
                      "the output's weight is the embedding's.", tokens, width)
    table.embedding("embedding.words", words)
    table.embedding("embedding.positions", tokens)
    table.add_back("embedding.add")
    for block in range(depth):
        at = f"block{block}"
        table.norm(at + ".norm1")
        table.attention(at + ".attention", heads, fused=True)
        table.add_back(at + ".add1", "fused-dropout-add")
        table.norm(at + ".norm2")
        table.feed_forward(at + ".ffn", fused=True)
        table.add_back(at + ".add2", "fused-dropout-add")
    table.norm("norm")
    table.decode("output", words, bias=False, tied=True)
    return table


def gpt2_small():
    return gpt2("gpt2-small", 12, 768, 12)


def gpt2_medium():
    return gpt2("gpt2-medium", 24, 1024, 16)


def gpt2_large():
    return gpt2("gpt2-large", 36, 1280, 20)


def gpt2_xl():
    return gpt2("gpt2-xl", 48, 1600, 25)


class GatedTable(TextTable):
    """Llama's layers: RMSNorm, positions turned, grouped keys and values, SwiGLU; no biases."""

    def norm(self, name):
        self.pointwise(name, "eager-rms-norm", self.tokens * self.width, weight=(self.width,))

    def grouped_attention(self, name, heads, key_heads):
        t, d = self.tokens, self.width
        keys = d // heads * key_heads
        for part, width in (("query", d), ("key", keys), ("value", keys)):
            self.dense(f"{name}.{part}", d, width, bias=False)
        self.pointwise(name + ".rotation", "eager-rotation", t * (d + keys))
        if keys < d:
            self.pointwise(name + ".repeat", "repeat-heads", t * (d + keys))
        # One kernel, of each token with those before it: half of both products.
        self.add(name + ".scores", "causal-attention", t * (d + 2 * keys), t * d, 2 * t * t * d)
        self.dense(name + ".output", d, d, bias=False)

    def gated_feed_forward(self, name, inner):
        self.dense(name + ".gate", self.width, inner, bias=False)
        self.dense(name + ".up", self.width, inner, bias=False)
        self.pointwise(name + ".silu", "eager-gate", self.tokens * inner, operands=2)
        self.dense(name + ".down", inner, self.width, bias=False)


def llama(name, paper, tokens, words, depth, width, heads, key_heads, inner):
    grouped = f", {key_heads} of keys and values" if key_heads < heads else ""
    table = GatedTable(name, paper, f"{depth} blocks of {width:,}, {heads} heads{grouped}, SwiGLU of {inner:,}, "
                       f"{words:,} words, the output's weight its own.", tokens, width)
    table.embedding("embedding", words)
    for block in range(depth):
        at = f"block{block}"
        table.norm(at + ".norm1")
        table.grouped_attention(at + ".attention", heads, key_heads)
        table.add_back(at + ".add1")
        table.norm(at + ".norm2")
        table.gated_feed_forward(at + ".ffn", inner)
        table.add_back(at + ".add2")
    table.norm("norm")
    table.decode("output", words, bias=False)
    return table


def llama2_7b():
    return llama("llama2-7b", "Touvron et al., arXiv 2307.09288", 4096, 32_000, 32, 4096, 32, 32, 11_008)


def llama2_13b():
    return llama("llama2-13b", "Touvron et al., arXiv 2307.09288", 4096, 32_000, 40, 5120, 40, 40, 13_824)


def llama3_8b():
    return llama("llama3-8b", "Dubey et al., arXiv 2407.21783, table 3", 8192, 128_256, 32, 4096, 32, 8, 14_336)
