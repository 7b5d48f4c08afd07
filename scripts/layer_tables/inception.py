"""Inception-v3: every convolution is followed by batch normalisation with scale and shift."""
from .images import ImageTable


class Module:
    """Chains of convolutions beside each other on one input, concatenated at the end."""

    def __init__(self, table, name, x):
        self.table, self.name, self.x, self.parts = table, name, x, []

    def convolve(self, name, x, channels, kernel, stride=1, padding=None):
        if padding is None:  # keeps the sides
            padding = tuple(side // 2 for side in kernel) if isinstance(kernel, tuple) else kernel // 2
        return self.table.convolution_norm_relu(f"{self.name}.{name}", x, channels, kernel, stride=stride,
                                                padding=padding)

    def chain(self, name, *steps, x=None):
        """Each step: (channels, kernel[, stride, padding])."""
        y = self.x if x is None else x
        for number, step in enumerate(steps, 1):
            y = self.convolve(f"{name}_{number}", y, *step)
        self.parts.append(y)

    def split(self, name, y, channels):
        """1 x 3 and 3 x 1 on the same input."""
        self.chain(name + "a", (channels, (1, 3)), x=y)
        self.chain(name + "b", (channels, (3, 1)), x=y)

    def pool_projection(self, channels):
        y = self.table.pool(self.name + ".pool", self.x, 3, 1, padding=1)
        self.chain("pool_projection", (channels, 1), x=y)

    def pool_down(self):
        self.parts.append(self.table.pool(self.name + ".pool", self.x, 3, 2))

    def end(self):
        return self.table.concatenate(self.name + ".concatenate", self.parts)


def module_a(table, name, x, projection):
    module = Module(table, name, x)
    module.chain("1x1", (64, 1))
    module.chain("5x5", (48, 1), (64, 5))
    module.chain("3x3", (64, 1), (96, 3), (96, 3))
    module.pool_projection(projection)
    return module.end()


def module_b(table, name, x):
    """35 x 35 to 17 x 17."""
    module = Module(table, name, x)
    module.chain("3x3", (384, 3, 2, 0))
    module.chain("double", (64, 1), (96, 3), (96, 3, 2, 0))
    module.pool_down()
    return module.end()


def module_c(table, name, x, width):
    module = Module(table, name, x)
    module.chain("1x1", (192, 1))
    module.chain("7x7", (width, 1), (width, (1, 7)), (192, (7, 1)))
    module.chain("double", (width, 1), (width, (7, 1)), (width, (1, 7)), (width, (7, 1)), (192, (1, 7)))
    module.pool_projection(192)
    return module.end()


def module_d(table, name, x):
    """17 x 17 to 8 x 8."""
    module = Module(table, name, x)
    module.chain("3x3", (192, 1), (320, 3, 2, 0))
    module.chain("7x7", (192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, 2, 0))
    module.pool_down()
    return module.end()


def module_e(table, name, x):
    module = Module(table, name, x)
    module.chain("1x1", (320, 1))
    module.split("3x3", module.convolve("3x3_reduce", x, 384, 1), 384)
    y = module.convolve("double_1", x, 448, 1)
    module.split("double", module.convolve("double_2", y, 384, 3), 384)
    module.pool_projection(192)
    return module.end()


def stem(table):
    x = table.convolution_norm_relu("conv1", (3, 299, 299), 32, 3, stride=2)
    x = table.convolution_norm_relu("conv2", x, 32, 3)
    x = table.convolution_norm_relu("conv3", x, 64, 3, padding=1)
    x = table.pool("pool1", x, 3, 2)
    x = table.convolution_norm_relu("conv4", x, 80, 1)
    x = table.convolution_norm_relu("conv5", x, 192, 3)
    return table.pool("pool2", x, 3, 2)


def auxiliary_head(table, x):
    y = table.pool("head.pool", x, 5, 3)
    y = table.convolution_norm_relu("head.conv1", y, 128, 1)
    y = table.convolution_norm_relu("head.conv2", y, 768, 5)
    y = table.global_pool("head.pool2", y)
    table.linear("head.fc", y[0], 1000)
    table.pointwise("head.softmax", "softmax", 1000)


def build(name, head):
    table = ImageTable(name, "Szegedy et al., arXiv 1512.00567, table 1",
                       f"Inception-v3 {'with' if head else 'without'} its auxiliary head, batch normalisation with "
                       "scale and shift, without dropout.", "an image of 3 x 299 x 299, 1,000 classes")
    x = stem(table)
    for number, projection in enumerate((32, 64, 64), 1):
        x = module_a(table, f"a{number}", x, projection)
    x = module_b(table, "b", x)
    for number, width in enumerate((128, 160, 160, 192), 1):
        x = module_c(table, f"c{number}", x, width)
    if head:
        auxiliary_head(table, x)
    x = module_d(table, "d", x)
    for number in (1, 2):
        x = module_e(table, f"e{number}", x)
    table.classifier("pool", x, 1000)
    return table


def inception_v3():
    return build("inception-v3", head=False)


def inception_v3_aux():
    return build("inception-v3-aux", head=True)
