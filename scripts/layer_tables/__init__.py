"""Architectures as functions that fill a table of layers; MODELS names them."""
from . import alexnet_vgg, googlenet, inception, resnet, text

MODELS = {
    "alexnet-grouped": alexnet_vgg.alexnet_grouped,
    "vgg-a": alexnet_vgg.vgg_a,
    "vgg16": alexnet_vgg.vgg16,
    "vgg19": alexnet_vgg.vgg19,
    "googlenet": googlenet.googlenet,
    "googlenet-aux": googlenet.googlenet_aux,
    "resnet18": resnet.resnet18,
    "resnet34": resnet.resnet34,
    "resnet50": resnet.resnet50,
    "resnet101": resnet.resnet101,
    "resnet152": resnet.resnet152,
    "inception-v3": inception.inception_v3,
    "inception-v3-aux": inception.inception_v3_aux,
    "lstm-ptb": text.lstm_ptb,
    "bert-base": text.bert_base,
    "bert-large": text.bert_large,
    "bert-large-pretraining": text.bert_large_pretraining,
    "gpt2-small": text.gpt2_small,
    "gpt2-medium": text.gpt2_medium,
    "gpt2-large": text.gpt2_large,
    "gpt2-xl": text.gpt2_xl,
    "llama2-7b": text.llama2_7b,
    "llama2-13b": text.llama2_13b,
    "llama3-8b": text.llama3_8b,
}
