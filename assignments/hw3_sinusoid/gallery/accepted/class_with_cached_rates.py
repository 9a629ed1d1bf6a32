# torchgrade: hw3
# A class that keeps the frequencies of each (d_model, base) it has seen.
import math


class Sinusoids:
    def __init__(self):
        self.rates = {}

    def rate(self, i, d_model, base):
        key = (d_model, base)
        if key not in self.rates:
            self.rates[key] = [base ** (-2 * k / d_model) for k in range(d_model // 2)]
        return self.rates[key][i]


sinusoids = Sinusoids()


def sinusoid_value(pos, i, d_model, base=10000.0):
    return math.sin(pos * sinusoids.rate(i, d_model, base))


def sinusoid_period(i, d_model, base=10000.0):
    return 2 * math.pi / sinusoids.rate(i, d_model, base)
