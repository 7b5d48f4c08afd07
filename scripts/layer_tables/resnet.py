"""Residual networks with basic and with bottleneck blocks."""
from math import prod

from .images import ImageTable


def bottleneck(table, name, x, width, stride):
    """1 x 1, 3 x 3 (with the stride), 1 x 1 to 4 width; the shortcut is projected where shapes differ."""
    y = table.convolution_norm_relu(name + ".1", x, width, 1)
    y = table.convolution_norm_relu(name + ".2", y, width, 3, stride=stride, padding=1)
    y = table.convolution(name + ".3.conv", y, 4 * width, 1, bias=False)
    table.batch_norm(name + ".3.bn", y)
    if stride != 1 or x[0] != y[0]:
        table.convolution(name + ".shortcut.conv", x, 4 * width, 1, stride=stride, bias=False)
        table.batch_norm(name + ".shortcut.bn", y)
    table.pointwise(name + ".add", "add", prod(y), operands=2)
    table.relu(name + ".relu", y)
    return y


def basic(table, name, x, width, stride):
    """Twice 3 x 3, the first with the stride; the shortcut is projected where shapes differ."""
    y = table.convolution_norm_relu(name + ".1", x, width, 3, stride=stride, padding=1)
    y = table.convolution(name + ".2.conv", y, width, 3, padding=1, bias=False)
    table.batch_norm(name + ".2.bn", y)
    if stride != 1 or x[0] != y[0]:
        table.convolution(name + ".shortcut.conv", x, width, 1, stride=stride, bias=False)
        table.batch_norm(name + ".shortcut.bn", y)
    table.pointwise(name + ".add", "add", prod(y), operands=2)
    table.relu(name + ".relu", y)
    return y


def resnet(name, blocks, block=bottleneck):
    layers = (3 if block is bottleneck else 2) * sum(blocks) + 2
    stride_of_block = " with the stride in a block's 3 x 3 convolution (\"v1.5\")" if block is bottleneck else ""
    table = ImageTable(name, "He et al., arXiv 1512.03385, table 1", f"ResNet-{layers}{stride_of_block}.",
                       "an image of 3 x 224 x 224, 1,000 classes")
    x = table.convolution_norm_relu("conv1", (3, 224, 224), 64, 7, stride=2, padding=3)
    x = table.pool("pool1", x, 3, 2, padding=1)
    for stage, count in enumerate(blocks):
        for index in range(count):
            stride = 2 if stage > 0 and index == 0 else 1
            x = block(table, f"stage{stage + 2}.{index}", x, 64 << stage, stride)
    table.classifier("pool5", x, 1000)
    return table


def resnet18():
    return resnet("resnet18", (2, 2, 2, 2), basic)


def resnet34():
    return resnet("resnet34", (3, 4, 6, 3), basic)


def resnet50():
    return resnet("resnet50", (3, 4, 6, 3))


def resnet101():
    return resnet("resnet101", (3, 4, 23, 3))


def resnet152():
    return resnet("resnet152", (3, 8, 36, 3))
