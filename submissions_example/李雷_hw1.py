# -*- coding: gbk -*-
# 作业一：加上位置向量
import torch


def add_position_vectors(token_vectors, position_vectors):
    # 每个词元向量加上它所在位置的位置向量；批次那一维靠广播
    final_vectors = token_vectors + position_vectors
    return final_vectors


if __name__ == "__main__":
    print("结果：", add_position_vectors(torch.ones(3, 2), torch.ones(3, 2)))
