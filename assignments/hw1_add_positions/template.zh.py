# torchgrade: hw1
# %%
import torch


# %%
def add_position_vectors(token_vectors, position_vectors):
    """让每个词元向量带上它所在位置的信息。

    token_vectors：(L, D)；一批 B 个句子时为 (B, L, D)
    position_vectors：(L, D)；处理一批句子时也可以是 (1, L, D)
    返回：一个新张量，形状与 token_vectors 相同
    """
    final_vectors = """your code here"""
    return final_vectors


# %%
# 试一试：运行这个单元格，或者整个文件。
if __name__ == "__main__":
    tokens = torch.tensor([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    positions = torch.tensor([[0.0, 0.5], [0.25, -1.0], [1.0, 0.0]])
    print(add_position_vectors(tokens, positions))
    # 应为：[[1.0, 2.5], [3.25, 3.0], [2.0, 2.0]]
