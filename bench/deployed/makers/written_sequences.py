"""Networks on sound, text, points and measurements that no package has."""
import torch
from torch import nn
from torch.nn import functional


class KeywordDsCnn(nn.Module):
    """DS-CNN, Zhang et al. 2017: one of twelve words in a second of sound."""

    def __init__(self, width=64, words=12):
        super().__init__()
        layers = [nn.Conv2d(1, width, (10, 4), (2, 2), (5, 1)), nn.BatchNorm2d(width), nn.ReLU()]
        for _ in range(4):
            layers += [nn.Conv2d(width, width, 3, padding=1, groups=width), nn.BatchNorm2d(width),
                       nn.ReLU(), nn.Conv2d(width, width, 1), nn.BatchNorm2d(width), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                                    nn.Linear(width, words))

    def forward(self, sound):
        return functional.softmax(self.layers(sound), -1)


class TinyConv(nn.Module):
    """TensorFlow's tiny_conv: one convolution and one product."""

    def __init__(self, words=4):
        super().__init__()
        self.convolution = nn.Conv2d(1, 8, (10, 8), 2, (4, 3))
        self.head = nn.Linear(8 * 24 * 20, words)

    def forward(self, sound):
        return functional.softmax(self.head(functional.relu(self.convolution(sound)).flatten(1)), -1)


class TcResNet(nn.Module):
    """TC-ResNet, Choi et al. 2019: convolutions along time."""

    def __init__(self, width=16, words=12):
        super().__init__()
        self.first = nn.Conv1d(40, width, 3, padding=1, bias=False)
        self.blocks = nn.ModuleList(self._block(a * width, b * width)
                                    for a, b in ((1, 2), (2, 3), (3, 4)))
        self.shorts = nn.ModuleList(nn.Conv1d(a * width, b * width, 1, 2)
                                    for a, b in ((1, 2), (2, 3), (3, 4)))
        self.head = nn.Linear(4 * width, words)

    @staticmethod
    def _block(inputs, outputs):
        return nn.Sequential(nn.Conv1d(inputs, outputs, 9, 2, 4), nn.BatchNorm1d(outputs), nn.ReLU(),
                             nn.Conv1d(outputs, outputs, 9, 1, 4), nn.BatchNorm1d(outputs))

    def forward(self, sound):
        sound = self.first(sound)
        for block, short in zip(self.blocks, self.shorts):
            sound = functional.relu(block(sound) + short(sound))
        return self.head(functional.adaptive_avg_pool1d(sound, 1).flatten(1))


class GruSpeech(nn.Module):
    """Deep Speech 2 in the small: convolutions, GRU layers in both directions, letters."""

    def __init__(self, width=64, letters=29):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(1, 16, (11, 11), (2, 2), (5, 5)), nn.BatchNorm2d(16),
                                   nn.Hardtanh(0, 20))
        self.sequence = nn.GRU(16 * 32, width, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * width, letters)

    def forward(self, sound):
        features = self.first(sound)
        features = features.permute(0, 3, 1, 2).flatten(2)
        return functional.log_softmax(self.head(self.sequence(features)[0]), -1)


class NoiseMask(nn.Module):
    """RNNoise and its followers: a mask for the spectrum, by GRU layers with a kept state."""

    def __init__(self, bins=65, width=48):
        super().__init__()
        self.first = nn.Linear(bins, width)
        self.sequence = nn.GRU(width, width, 2, batch_first=True)
        self.mask = nn.Linear(width, bins)

    def forward(self, spectrum, state):
        features, state = self.sequence(torch.tanh(self.first(spectrum)), state)
        return spectrum * torch.sigmoid(self.mask(features)), state


class ConvTasNet(nn.Module):
    """Luo and Mesgarani 2019, in the small: two voices of one recording."""

    def __init__(self, width=64, blocks=6):
        super().__init__()
        self.encoder = nn.Conv1d(1, width, 16, 8, bias=False)
        self.norm = nn.GroupNorm(1, width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv1d(width, 2 * width, 1), nn.PReLU(), nn.GroupNorm(1, 2 * width),
                          nn.Conv1d(2 * width, 2 * width, 3, 1, 2 ** i, 2 ** i, groups=2 * width),
                          nn.PReLU(), nn.GroupNorm(1, 2 * width), nn.Conv1d(2 * width, width, 1))
            for i in range(blocks))
        self.mask = nn.Conv1d(width, 2 * width, 1)
        self.decoder = nn.ConvTranspose1d(width, 1, 16, 8, bias=False)

    def forward(self, sound):
        features = functional.relu(self.encoder(sound))
        hidden = self.norm(features)
        for block in self.blocks:
            hidden = hidden + block(hidden)
        masks = torch.sigmoid(self.mask(hidden)).chunk(2, 1)
        return torch.cat([self.decoder(mask * features) for mask in masks], 1)


class WaveNet(nn.Module):
    """van den Oord et al. 2016: dilated convolutions with gates."""

    def __init__(self, width=24, layers=6):
        super().__init__()
        self.first = nn.Conv1d(1, width, 1)
        self.gates = nn.ModuleList(nn.Conv1d(width, 2 * width, 2, dilation=2 ** i)
                                   for i in range(layers))
        self.outs = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(layers))
        self.last = nn.Conv1d(width, 8, 1)

    def forward(self, sound):
        hidden = self.first(sound)
        total = 0
        for index, (gate, out) in enumerate(zip(self.gates, self.outs)):
            left, right = gate(functional.pad(hidden, (2 ** index, 0))).chunk(2, 1)
            value = out(torch.tanh(left) * torch.sigmoid(right))
            hidden = hidden + value
            total = total + value
        return self.last(functional.relu(total))


class Vocoder(nn.Module):
    """HiFi-GAN, Kong et al. 2020, in the small: sound of a spectrum."""

    def __init__(self, bins=40, width=64):
        super().__init__()
        self.first = nn.Conv1d(bins, width, 7, padding=3)
        self.grow = nn.ModuleList(nn.ConvTranspose1d(width >> i, width >> (i + 1), 8, 4, 2)
                                  for i in range(3))
        self.blocks = nn.ModuleList(nn.Conv1d(width >> (i + 1), width >> (i + 1), 3, 1, 3, 3)
                                    for i in range(3))
        self.last = nn.Conv1d(width >> 3, 1, 7, padding=3)

    def forward(self, spectrum):
        hidden = self.first(spectrum)
        for grow, block in zip(self.grow, self.blocks):
            hidden = grow(functional.leaky_relu(hidden, 0.1))
            hidden = hidden + block(functional.leaky_relu(hidden, 0.1))
        return torch.tanh(self.last(functional.leaky_relu(hidden)))


class VoiceActivity(nn.Module):
    """Silero and its kind: is there a voice, by an LSTM with a kept state."""

    def __init__(self, width=32):
        super().__init__()
        self.features = nn.Sequential(nn.Conv1d(1, width, 16, 8), nn.ReLU(),
                                      nn.Conv1d(width, width, 3, 2), nn.ReLU())
        self.sequence = nn.LSTM(width, width, batch_first=True)
        self.head = nn.Linear(width, 1)

    def forward(self, sound, hidden, cell):
        features = self.features(sound).transpose(1, 2)
        sequence, (hidden, cell) = self.sequence(features, (hidden, cell))
        return torch.sigmoid(self.head(sequence)).mean(1), hidden, cell


class PointNet(nn.Module):
    """Qi et al. 2017: the class of a cloud of points."""

    def __init__(self, classes=10):
        super().__init__()
        self.turn = self._shared(3, 32, 64)
        self.matrix = nn.Linear(64, 9)
        self.features = self._shared(3, 64, 128)
        self.head = nn.Sequential(nn.Linear(128, 64), nn.BatchNorm1d(64), nn.ReLU(),
                                  nn.Linear(64, classes))

    @staticmethod
    def _shared(*widths):
        return nn.Sequential(*(layer for a, b in zip(widths, widths[1:]) for layer in
                               (nn.Conv1d(a, b, 1), nn.BatchNorm1d(b), nn.ReLU())))

    def forward(self, points):
        matrix = self.matrix(self.turn(points).amax(2)).view(-1, 3, 3) + torch.eye(3)
        return self.head(self.features(torch.bmm(matrix, points)).amax(2))


class PointPillars(nn.Module):
    """Lang et al. 2019: pillars of lidar points, scattered to a picture seen from above."""

    def __init__(self, width=16, side=32):
        super().__init__()
        self.points = nn.Sequential(nn.Linear(9, width, bias=False), nn.LayerNorm(width), nn.ReLU())
        self.body = nn.Sequential(nn.Conv2d(width, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
                                  nn.ConvTranspose2d(32, 32, 2, 2), nn.BatchNorm2d(32), nn.ReLU())
        self.head = nn.Conv2d(32, 14, 1)
        self.side = side

    def forward(self, pillars, places):
        features = self.points(pillars).amax(2).transpose(1, 2)
        picture = torch.zeros(features.shape[0], features.shape[1], self.side ** 2)
        picture = picture.scatter(2, places.unsqueeze(1).expand_as(features), features)
        picture = picture.unflatten(2, (self.side, self.side))
        return self.head(self.body(picture))


class Forecast(nn.Module):
    """An LSTM that continues a row of measurements."""

    def __init__(self, signals=6, width=32, steps=12):
        super().__init__()
        self.sequence = nn.LSTM(signals, width, 2, batch_first=True)
        self.head = nn.Linear(width, steps)

    def forward(self, measurements):
        return self.head(self.sequence(measurements)[0][:, -1])


class Temporal(nn.Module):
    """TCN, Bai et al. 2018: causal convolutions for measurements."""

    def __init__(self, signals=6, width=32):
        super().__init__()
        widths = [signals, width, width, width]
        self.blocks = nn.ModuleList(
            nn.utils.parametrizations.weight_norm(nn.Conv1d(a, b, 3, dilation=2 ** i))
            for i, (a, b) in enumerate(zip(widths, widths[1:])))
        self.head = nn.Linear(width, 4)

    def forward(self, measurements):
        for index, block in enumerate(self.blocks):
            measurements = functional.relu(
                block(functional.pad(measurements, (2 ** (index + 1), 0))))
        return self.head(measurements[:, :, -1])


class Recommender(nn.Module):
    """DLRM, Naumov et al. 2019: embeddings, their products, dense layers."""

    def __init__(self, tables=4, rows=100, width=16):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for _ in range(tables))
        self.bottom = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, width), nn.ReLU())
        pairs = (tables + 1) * tables // 2
        self.top = nn.Sequential(nn.Linear(width + pairs, 32), nn.ReLU(), nn.Linear(32, 1))
        self.register_buffer("pairs", torch.tril_indices(tables + 1, tables + 1, -1),
                             persistent=False)

    def forward(self, dense, sparse):
        dense = self.bottom(dense)
        rows = [table(sparse[:, index]) for index, table in enumerate(self.tables)]
        rows = torch.stack([dense, *rows], 1)
        products = torch.bmm(rows, rows.transpose(1, 2))[:, self.pairs[0], self.pairs[1]]
        return torch.sigmoid(self.top(torch.cat([dense, products], 1)))


class Denoiser(nn.Module):
    """A small network of diffusion (Ho et al. 2020): noise of a picture at a time."""

    def __init__(self, width=32):
        super().__init__()
        self.width = width
        self.time = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
        self.first = nn.Conv2d(4, width, 3, padding=1)
        self.norms = nn.ModuleList(nn.GroupNorm(8, width) for _ in range(3))
        self.convolutions = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(2))
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.last = nn.Conv2d(width, 4, 3, padding=1)

    def forward(self, image, time):
        half = self.width // 2
        rates = torch.exp(torch.arange(half) * (-9.2 / half))
        angles = time * rates
        time = self.time(torch.cat([angles.sin(), angles.cos()], -1))
        hidden = self.first(image)
        for norm, convolution in zip(self.norms, self.convolutions):
            hidden = hidden + convolution(functional.silu(norm(hidden))) + time[:, :, None, None]
        rows = self.norms[2](hidden).flatten(2).transpose(1, 2)
        rows = self.attention(rows, rows, rows, need_weights=False)[0]
        return self.last(hidden + rows.transpose(1, 2).unflatten(2, hidden.shape[2:]))


MODELS = {model.__name__: model for model in (
    KeywordDsCnn, TinyConv, TcResNet, GruSpeech, NoiseMask, ConvTasNet, WaveNet, Vocoder,
    VoiceActivity, PointNet, PointPillars, Forecast, Temporal, Recommender, Denoiser)}


def make(model, **arguments):
    return MODELS[model](**arguments)
