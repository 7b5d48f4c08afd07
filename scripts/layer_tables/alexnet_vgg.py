"""Plain stacks of convolutions: AlexNet and VGG."""
from math import prod

from .images import ImageTable

IMAGE = "an image of 3 x {0} x {0}, 1,000 classes"


def alexnet_grouped():
    """Two towers: convolutions 2, 4 and 5 see half of the channels each."""
    table = ImageTable("alexnet-grouped", "Krizhevsky et al., NIPS 2012",
                       "AlexNet with two groups in convolutions 2, 4 and 5, without dropout.", IMAGE.format(227))
    x = table.convolution_relu("conv1", (3, 227, 227), 96, 11, stride=4)
    table.pointwise("norm1", "local-response-norm", prod(x))
    x = table.pool("pool1", x, 3, 2)
    x = table.convolution_relu("conv2", x, 256, 5, padding=2, groups=2)
    table.pointwise("norm2", "local-response-norm", prod(x))
    x = table.pool("pool2", x, 3, 2)
    x = table.convolution_relu("conv3", x, 384, 3, padding=1)
    x = table.convolution_relu("conv4", x, 384, 3, padding=1, groups=2)
    x = table.convolution_relu("conv5", x, 256, 3, padding=1, groups=2)
    x = table.pool("pool5", x, 3, 2)
    dense_end(table, prod(x), "fc6", "fc7", "fc8")
    return table


def dense_end(table, inputs, *names):
    table.dense_relu(names[0], inputs, 4096)
    table.dense_relu(names[1], 4096, 4096)
    table.linear(names[2], 4096, 1000)
    table.classes(1000)


def vgg(name, letter, repeats):
    """Stage s: repeats[s] convolutions of 3 x 3, then a pool that halves the sides."""
    table = ImageTable(name, "Simonyan and Zisserman, arXiv 1409.1556, table 1",
                       f"VGG of column {letter}, {sum(repeats) + 3} layers with weights, no batch normalisation, "
                       "without dropout.", IMAGE.format(224))
    x = (3, 224, 224)
    for stage, (repeat, channels) in enumerate(zip(repeats, (64, 128, 256, 512, 512)), 1):
        for layer in range(1, repeat + 1):
            x = table.convolution_relu(f"conv{stage}_{layer}", x, channels, 3, padding=1)
        x = table.pool(f"pool{stage}", x, 2, 2)
    dense_end(table, prod(x), "fc6", "fc7", "fc8")
    return table


def vgg_a():
    return vgg("vgg-a", "A", (1, 1, 2, 2, 2))


def vgg16():
    return vgg("vgg16", "D", (2, 2, 3, 3, 3))


def vgg19():
    return vgg("vgg19", "E", (2, 2, 4, 4, 4))
