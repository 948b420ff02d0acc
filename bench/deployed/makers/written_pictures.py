"""Networks on pictures that no package has, written as their papers and projects do."""
import torch
from torch import nn
from torch.nn import functional


def _double(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
                         nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
                         nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
                         nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class UNet(nn.Module):
    """Ronneberger et al. 2015, with padding; `bilinear` enlarges without weights."""

    def __init__(self, width=32, classes=2, levels=4, bilinear=False):
        super().__init__()
        widths = [width * 2 ** level for level in range(levels + 1)]
        self.down = nn.ModuleList(_double(a, b) for a, b in zip([3, *widths], widths))
        ups = list(zip(widths[:0:-1], widths[-2::-1]))
        self.grow = nn.ModuleList(
            nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True),
                          nn.Conv2d(a, b, 1)) if bilinear else nn.ConvTranspose2d(a, b, 2, 2)
            for a, b in ups)
        self.up = nn.ModuleList(_double(2 * b, b) for _, b in ups)
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, image):
        kept = []
        for level, block in enumerate(self.down):
            image = block(image if level == 0 else functional.max_pool2d(image, 2))
            kept.append(image)
        kept.pop()
        for grow, block in zip(self.grow, self.up):
            image = block(torch.cat([kept.pop(), grow(image)], 1))
        return self.head(image)


class DnCNN(nn.Module):
    """Zhang et al. 2017: the noise of a grey picture."""

    def __init__(self, depth=17, width=64):
        super().__init__()
        layers = [nn.Conv2d(1, width, 3, padding=1), nn.ReLU()]
        for _ in range(depth - 2):
            layers += [nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width),
                       nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.Conv2d(width, 1, 3, padding=1))

    def forward(self, image):
        return image - self.layers(image)


class Espcn(nn.Module):
    """Shi et al. 2016: super-resolution by moving channels to pixels."""

    def __init__(self, scale=3):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 64, 5, padding=2), nn.Tanh(),
                                    nn.Conv2d(64, 32, 3, padding=1), nn.Tanh(),
                                    nn.Conv2d(32, scale ** 2, 3, padding=1), nn.PixelShuffle(scale))

    def forward(self, image):
        return torch.sigmoid(self.layers(image))


class Fsrcnn(nn.Module):
    """Dong et al. 2016: super-resolution by a transposed convolution."""

    def __init__(self, scale=2):
        super().__init__()
        middle = [layer for _ in range(4) for layer in (nn.Conv2d(12, 12, 3, padding=1), nn.PReLU(12))]
        self.layers = nn.Sequential(nn.Conv2d(1, 56, 5, padding=2), nn.PReLU(56),
                                    nn.Conv2d(56, 12, 1), nn.PReLU(12), *middle,
                                    nn.Conv2d(12, 56, 1), nn.PReLU(56),
                                    nn.ConvTranspose2d(56, 1, 9, scale, 4, scale - 1))

    def forward(self, image):
        return self.layers(image)


class _Dense(nn.Module):
    def __init__(self, width, growth):
        super().__init__()
        self.convolutions = nn.ModuleList(
            nn.Conv2d(width + i * growth, growth if i < 4 else width, 3, padding=1)
            for i in range(5))

    def forward(self, image):
        parts = [image]
        for convolution in self.convolutions[:-1]:
            parts.append(functional.leaky_relu(convolution(torch.cat(parts, 1)), 0.2))
        return image + 0.2 * self.convolutions[-1](torch.cat(parts, 1))


class RealEsrgan(nn.Module):
    """Wang et al. 2018 and 2021: residual blocks in residual blocks, four times as wide."""

    def __init__(self, width=32, growth=16, blocks=3):
        super().__init__()
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.body = nn.Sequential(*(nn.Sequential(*(_Dense(width, growth) for _ in range(3)))
                                    for _ in range(blocks)))
        self.after = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(4))
        self.last = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, image):
        image = self.first(image)
        image = image + self.after[0](self.body(image))
        for convolution in self.after[1:3]:
            image = functional.interpolate(image, scale_factor=2, mode="nearest")
            image = functional.leaky_relu(convolution(image), 0.2)
        return self.last(functional.leaky_relu(self.after[3](image), 0.2))


class SrvggCompact(nn.Module):
    """The small network of Real-ESRGAN for videos."""

    def __init__(self, width=32, depth=8, scale=4):
        super().__init__()
        middle = [layer for _ in range(depth)
                  for layer in (nn.Conv2d(width, width, 3, padding=1), nn.PReLU(width))]
        self.layers = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.PReLU(width), *middle,
                                    nn.Conv2d(width, 3 * scale ** 2, 3, padding=1),
                                    nn.PixelShuffle(scale))
        self.scale = scale

    def forward(self, image):
        return self.layers(image) + functional.interpolate(image, scale_factor=self.scale)


class StyleTransfer(nn.Module):
    """Johnson et al. 2016: pictures in the style of a painting."""

    def __init__(self, width=16, blocks=3):
        super().__init__()
        self.down = nn.Sequential(*self._block(3, width, 9, 1), *self._block(width, 2 * width, 3, 2),
                                  *self._block(2 * width, 4 * width, 3, 2))
        self.body = nn.ModuleList(nn.Sequential(*self._block(4 * width, 4 * width, 3, 1))
                                  for _ in range(blocks))
        self.up = nn.ModuleList(nn.Sequential(*self._block(a * width, b * width, 3, 1))
                                for a, b in ((4, 2), (2, 1)))
        self.last = nn.Sequential(nn.ReflectionPad2d(4), nn.Conv2d(width, 3, 9))

    @staticmethod
    def _block(inputs, outputs, size, stride):
        return (nn.ReflectionPad2d(size // 2), nn.Conv2d(inputs, outputs, size, stride),
                nn.InstanceNorm2d(outputs, affine=True), nn.ReLU())

    def forward(self, image):
        image = self.down(image)
        for block in self.body:
            image = image + block(image)
        for block in self.up:
            image = block(functional.interpolate(image, scale_factor=2))
        return self.last(image)


class Autoencoder(nn.Module):
    """Convolutions that make a picture small and large again: anomalies, compression."""

    def __init__(self, width=16):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.ELU(),
                                     nn.Conv2d(width, 2 * width, 3, 2, 1), nn.ELU(), nn.Flatten(),
                                     nn.Linear(2 * width * 16 * 16, 64))
        self.decoder = nn.Sequential(nn.Linear(64, 2 * width * 16 * 16), nn.ELU(),
                                     nn.Unflatten(1, (2 * width, 16, 16)),
                                     nn.ConvTranspose2d(2 * width, width, 4, 2, 1), nn.ELU(),
                                     nn.ConvTranspose2d(width, 3, 4, 2, 1), nn.Sigmoid())

    def forward(self, image):
        return self.decoder(self.encoder(image))


class Siamese(nn.Module):
    """SiamFC, Bertinetto et al. 2016: a small picture searched in a large one."""

    def __init__(self, width=32):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, width, 5, 2), nn.BatchNorm2d(width), nn.ReLU(),
                                      nn.MaxPool2d(3, 2), nn.Conv2d(width, width, 3),
                                      nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, 3))

    def forward(self, small, large):
        left = functional.normalize(self.features(small).flatten(1), dim=1)
        right = functional.normalize(self.features(large).flatten(1), dim=1)
        return (left * right).sum(1, keepdim=True), torch.cdist(left, right)


class FaceDetector(nn.Module):
    """UltraFace and RetinaFace in the small: boxes and scores at three scales."""

    def __init__(self, width=16):
        super().__init__()
        widths = [width, 2 * width, 4 * width, 8 * width]
        self.stages = nn.ModuleList(self._stage(a, b) for a, b in zip([3, *widths], widths))
        self.scores = nn.ModuleList(nn.Conv2d(w, 4, 3, padding=1) for w in widths[1:])
        self.boxes = nn.ModuleList(nn.Conv2d(w, 8, 3, padding=1) for w in widths[1:])

    @staticmethod
    def _stage(inputs, outputs):
        return nn.Sequential(nn.Conv2d(inputs, inputs, 3, 2, 1, groups=inputs, bias=False),
                             nn.BatchNorm2d(inputs), nn.LeakyReLU(0.1),
                             nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs),
                             nn.LeakyReLU(0.1))

    def forward(self, image):
        scores, boxes = [], []
        for index, stage in enumerate(self.stages):
            image = stage(image)
            if index > 0:
                scores.append(self.scores[index - 1](image).permute(0, 2, 3, 1).flatten(1, 2))
                boxes.append(self.boxes[index - 1](image).permute(0, 2, 3, 1).flatten(1, 2))
        scores = torch.cat([part.reshape(part.shape[0], -1, 2) for part in scores], 1)
        boxes = torch.cat([part.reshape(part.shape[0], -1, 4) for part in boxes], 1)
        return functional.softmax(scores, -1), boxes


class Landmarks(nn.Module):
    """PFLD, Guo et al. 2019: points of a face."""

    def __init__(self, points=68):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU6())
        self.second = nn.Sequential(nn.Conv2d(32, 64, 3, 2, 1), nn.BatchNorm2d(64), nn.ReLU6())
        self.third = nn.Sequential(nn.Conv2d(64, 64, 3, 2, 1, groups=64), nn.Conv2d(64, 96, 1),
                                   nn.PReLU(96))
        self.head = nn.Linear(32 + 64 + 96, 2 * points)

    def forward(self, image):
        first = self.first(image)
        second = self.second(first)
        third = self.third(second)
        means = [functional.adaptive_avg_pool2d(part, 1).flatten(1)
                 for part in (first, second, third)]
        return self.head(torch.cat(means, 1))


class Heatmaps(nn.Module):
    """CenterNet, Zhou et al. 2019: centres are the maxima of a heat map, the best are kept."""

    def __init__(self, width=32, classes=4, kept=20):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.BatchNorm2d(width), nn.ReLU(),
                                  nn.Conv2d(width, width, 3, 2, 1), nn.BatchNorm2d(width), nn.ReLU())
        self.heat = nn.Conv2d(width, classes, 1)
        self.size = nn.Conv2d(width, 2, 1)
        self.kept = kept

    def forward(self, image):
        features = self.body(image)
        heat = torch.sigmoid(self.heat(features))
        heat = heat * (heat == functional.max_pool2d(heat, 3, 1, 1)).float()
        scores, where = torch.topk(heat.flatten(1), self.kept)
        cells = heat.shape[2] * heat.shape[3]
        size = self.size(features).flatten(2).transpose(1, 2)
        places = (where % cells).unsqueeze(-1).expand(-1, -1, 2)
        return scores, where // cells, where % cells, size.gather(1, places)


class Recogniser(nn.Module):
    """CRNN, Shi et al. 2015: the letters of a line of text, by convolutions and LSTM layers."""

    def __init__(self, letters=37, width=32):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(),
            nn.MaxPool2d((2, 1)), nn.Conv2d(2 * width, 4 * width, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d((2, 1)), nn.Conv2d(4 * width, 4 * width, (4, 1)), nn.ReLU())
        self.sequence = nn.LSTM(4 * width, 2 * width, 2, bidirectional=True)
        self.head = nn.Linear(4 * width, letters)

    def forward(self, image):
        sequence, _ = self.sequence(self.features(image).squeeze(2).permute(2, 0, 1))
        return functional.log_softmax(self.head(sequence), 2)


class TextDetector(nn.Module):
    """DB, Liao et al. 2020: where text is, with the pyramid of PP-OCR."""

    def __init__(self, width=24):
        super().__init__()
        widths = [width, 2 * width, 3 * width]
        self.stages = nn.ModuleList(self._stage(a, b) for a, b in zip([3, *widths], widths))
        self.lateral = nn.ModuleList(nn.Conv2d(w, width, 1) for w in widths)
        self.head = nn.Sequential(nn.Conv2d(3 * width, width, 3, padding=1), nn.BatchNorm2d(width),
                                  nn.ReLU(), nn.ConvTranspose2d(width, width, 2, 2), nn.ReLU(),
                                  nn.ConvTranspose2d(width, 1, 2, 2))

    @staticmethod
    def _stage(inputs, outputs):
        return nn.Sequential(nn.Conv2d(inputs, outputs, 3, 2, 1), nn.BatchNorm2d(outputs),
                             nn.Hardswish(), nn.Conv2d(outputs, outputs, 3, 1, 1), nn.Hardswish())

    def forward(self, image):
        levels = []
        for stage, lateral in zip(self.stages, self.lateral):
            image = stage(image)
            levels.append(lateral(image))
        size = levels[1].shape[2:]
        levels = [functional.interpolate(level, size=size, mode="nearest") for level in levels]
        return torch.sigmoid(self.head(torch.cat(levels, 1)))


MODELS = {model.__name__: model for model in (
    UNet, DnCNN, Espcn, Fsrcnn, RealEsrgan, SrvggCompact, StyleTransfer, Autoencoder, Siamese,
    FaceDetector, Landmarks, Heatmaps, Recogniser, TextDetector)}


def make(model, **arguments):
    return MODELS[model](**arguments)
