# torchgrade: hw1
# A module in the style of a learned table; the result is wrapped in a Parameter.
from torch import nn


class AddPositions(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.table = nn.Parameter(table.clone())

    def forward(self, tokens):
        return nn.Parameter(tokens + self.table)


def add_position_vectors(token_vectors, position_vectors):
    module = AddPositions(position_vectors)
    return module(token_vectors)
