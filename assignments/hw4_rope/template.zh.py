# torchgrade: hw4
# %%
import torch


# %%
def apply_rope(x, positions=None, base=10000.0):
    """把相邻两个数组成的每一对旋转一个角度，角度取决于所在的位置。

    x：(..., L, D)，D 为偶数；浮点数
    positions：(L,) 个整数，每一行的位置；None 表示 0、1、……、L - 1
    base：第 i 对旋转 pos / base ** (2 * i / D) 弧度
    返回：一个新张量，形状和 dtype 与 x 相同
    """
    rotated = """your code here"""
    return rotated


# %%
# 试一试：运行这个单元格，或者整个文件。
if __name__ == "__main__":
    x = torch.tensor([1.0, 2.0, 3.0, 4.0]).repeat(3, 1)
    print(apply_rope(x))
    # 应为：[[ 1.0000, 2.0000, 3.0000, 4.0000],
    #        [-1.1426, 1.9221, 2.9599, 4.0298],
    #        [-2.2347, 0.0770, 2.9194, 4.0592]]
