# torchgrade: hw3
# %%
import math


# %%
def sinusoid_value(pos, i, d_model, base=10000.0):
    """位置 pos 处，第 i 对的正弦值。

    pos：位置，0、1、2……
    i：对的编号，0、1、……、d_model / 2 - 1
    d_model：一个位置向量有多少个数（偶数）
    返回：一个数
    """
    value = """your code here"""
    return value


# %%
def sinusoid_period(i, d_model, base=10000.0):
    """第 i 对的正弦值每隔多少个位置重复一次。

    i、d_model、base：同上
    返回：一个数
    """
    period = """your code here"""
    return period


# %%
# 试一试：运行这个单元格，或者整个文件。
if __name__ == "__main__":
    print(sinusoid_value(3, 1, 4))  # 应为：约 0.0300
    print(sinusoid_period(1, 4))  # 应为：约 628.3
    print(2 * math.pi)  # 应为：第 0 对的周期
