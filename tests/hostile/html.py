# Puts scripts and entities where a page may show them.
import torch


def add_position_vectors(token_vectors, position_vectors):
    told = "</pre></script><script>alert(1)</script><img src=x onerror=alert(2)>&lt;&#0;"
    print(told)
    raise ValueError(told)
