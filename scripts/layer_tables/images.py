"""Layers of networks on images. An activation is (channels, height, width)."""
from math import prod

from .table import Table


def pair(value):
    return value if isinstance(value, tuple) else (value, value)


def windows(side, kernel, stride, padding, up=False):
    """Places of a window; `up`: the last one may stick out (Caffe's pooling)."""
    span = side + 2 * padding - kernel
    return (-(-span // stride) if up else span // stride) + 1


def placed(x, kernel, stride, padding, up=False):
    kernel, padding = pair(kernel), pair(padding)
    return tuple(windows(x[i + 1], kernel[i], stride, padding[i], up) for i in range(2))


class ImageTable(Table):
    """Each call adds a layer and returns the activation that it leaves."""

    def convolution(self, name, x, channels, kernel, stride=1, padding=0, groups=1, bias=True):
        shape = (channels, x[0] // groups) + pair(kernel)
        y = (channels,) + placed(x, kernel, stride, padding)
        tensors = {"weight": shape}
        if bias:
            tensors["bias"] = (channels,)
        self.add(name, "convolution", prod(x), prod(y), 2 * prod(shape) * y[1] * y[2], **tensors)
        return y

    def batch_norm(self, name, x):
        self.pointwise(name, "batch-norm", prod(x), weight=(x[0],), bias=(x[0],))

    def relu(self, name, x):
        self.pointwise(name, "relu", prod(x))

    def convolution_relu(self, name, x, *shape, **options):
        y = self.convolution(name, x, *shape, **options)
        self.relu(name + ".relu", y)
        return y

    def convolution_norm_relu(self, name, x, *shape, **options):
        y = self.convolution(name + ".conv", x, *shape, bias=False, **options)
        self.batch_norm(name + ".bn", y)
        self.relu(name + ".relu", y)
        return y

    def pool(self, name, x, kernel, stride, padding=0, up=False):
        """Largest or mean of each window: one operation a value."""
        y = (x[0],) + placed(x, kernel, stride, padding, up)
        self.add(name, "pool", prod(x), prod(y), prod(y) * prod(pair(kernel)))
        return y

    def global_pool(self, name, x):
        return self.pool(name, x, x[1:], 1)

    def dense_relu(self, name, inputs, outputs):
        self.linear(name, inputs, outputs)
        self.pointwise(name + ".relu", "relu", outputs)

    def concatenate(self, name, parts):
        y = (sum(part[0] for part in parts),) + parts[0][1:]
        self.pointwise(name, "concatenate", prod(y))
        return y

    def classifier(self, pool, x, count):
        """Means over space, one linear layer, probabilities."""
        x = self.global_pool(pool, x)
        self.linear("fc", x[0], count)
        self.classes(count)

    def classes(self, count):
        self.pointwise("softmax", "softmax", count)
