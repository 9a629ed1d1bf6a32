# torchgrade: hw2
# %%
import torch


# %%
def mask_padding(embeddings, attention_mask):
    """把填充位置的向量设为 0。

    embeddings：(B, L, D)，float32 或 float64
    attention_mask：(B, L)，真正的词元为 1 或 True，填充位置为 0 或 False
    返回：一个新张量 (B, L, D)
    """
    masked_embeddings = """your code here"""
    return masked_embeddings


# %%
# 试一试：运行这个单元格，或者整个文件。
if __name__ == "__main__":
    embeddings = torch.tensor(
        [
            [[1.0, 2.0], [3.0, 4.0], [7.0, 7.0]],
            [[5.0, 0.0], [7.0, 7.0], [7.0, 7.0]],
        ]
    )
    attention_mask = torch.tensor([[1, 1, 0], [1, 0, 0]])
    print(mask_padding(embeddings, attention_mask))
    # 应为：[[[1, 2], [3, 4], [0, 0]], [[5, 0], [0, 0], [0, 0]]]
