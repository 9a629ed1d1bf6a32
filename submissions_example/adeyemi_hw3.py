import math

for pos in range(20000):
    print("position", pos, "sine of pair 0:", math.sin(pos), "and its cosine:", math.cos(pos))


def sinusoid_value(pos, i, d_model, base=10000.0):
    angle = pos / base ** (2 * i / d_model)
    print("angle", angle)
    return math.sin(angle)


def sinusoid_period(i, d_model, base=10000.0):
    frequency = base ** (-2 * i / d_model)
    print("frequency", frequency)
    return 2 * math.pi / frequency
