# torchgrade: hw3
# sin(a) = cos(pi / 2 - a), with the angle reduced to one turn first.
import math


def sinusoid_value(pos, i, d_model, base=10000.0):
    angle = math.fmod(pos / math.pow(base, 2.0 * i / d_model), 2 * math.pi)
    return math.cos(math.pi / 2 - angle)


def sinusoid_period(i, d_model, base=10000.0):
    return 4 * math.asin(1.0) * math.pow(base, 2.0 * i / d_model)
