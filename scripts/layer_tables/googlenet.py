"""GoogLeNet (Inception v1): no batch normalisation, 5 x 5 branches, as in the paper."""
from math import prod

from .images import ImageTable

# Table 1 of the paper: 1x1, 3x3 reduced, 3x3, 5x5 reduced, 5x5, pool projection.
MODULES = {
    "3a": (64, 96, 128, 16, 32, 32), "3b": (128, 128, 192, 32, 96, 64),
    "4a": (192, 96, 208, 16, 48, 64), "4b": (160, 112, 224, 24, 64, 64), "4c": (128, 128, 256, 24, 64, 64),
    "4d": (112, 144, 288, 32, 64, 64), "4e": (256, 160, 320, 32, 128, 128),
    "5a": (256, 160, 320, 32, 128, 128), "5b": (384, 192, 384, 48, 128, 128),
}


def module(table, name, x):
    one, reduce3, three, reduce5, five, projection = MODULES[name]
    name = "inception_" + name
    parts = [table.convolution_relu(name + ".1x1", x, one, 1)]
    y = table.convolution_relu(name + ".3x3_reduce", x, reduce3, 1)
    parts.append(table.convolution_relu(name + ".3x3", y, three, 3, padding=1))
    y = table.convolution_relu(name + ".5x5_reduce", x, reduce5, 1)
    parts.append(table.convolution_relu(name + ".5x5", y, five, 5, padding=2))
    y = table.pool(name + ".pool", x, 3, 1, padding=1)
    parts.append(table.convolution_relu(name + ".pool_projection", y, projection, 1))
    return table.concatenate(name + ".concatenate", parts)


def auxiliary_head(table, name, x):
    """A classifier on an inner activation, in training only."""
    y = table.pool(name + ".pool", x, 5, 3)
    y = table.convolution_relu(name + ".conv", y, 128, 1)
    table.dense_relu(name + ".fc1", prod(y), 1024)
    table.linear(name + ".fc2", 1024, 1000)
    table.pointwise(name + ".softmax", "softmax", 1000)


def build(name, heads):
    with_or_without = "with both" if heads else "without"
    table = ImageTable(name, "Szegedy et al., arXiv 1409.4842, table 1",
                       f"GoogLeNet {with_or_without} auxiliary heads, with biases, no batch normalisation, 5 x 5 "
                       "branches, without dropout.", "an image of 3 x 224 x 224, 1,000 classes")
    x = table.convolution_relu("conv1", (3, 224, 224), 64, 7, stride=2, padding=3)
    x = table.pool("pool1", x, 3, 2, up=True)
    table.pointwise("norm1", "local-response-norm", prod(x))
    x = table.convolution_relu("conv2_reduce", x, 64, 1)
    x = table.convolution_relu("conv2", x, 192, 3, padding=1)
    table.pointwise("norm2", "local-response-norm", prod(x))
    x = table.pool("pool2", x, 3, 2, up=True)
    for inception in MODULES:
        x = module(table, inception, x)
        if heads and inception in ("4a", "4d"):
            auxiliary_head(table, "head_" + inception, x)
        if inception in ("3b", "4e"):
            x = table.pool("pool" + inception[0], x, 3, 2, up=True)
    table.classifier("pool5", x, 1000)
    return table


def googlenet():
    return build("googlenet", heads=False)


def googlenet_aux():
    return build("googlenet-aux", heads=True)
