# SPDX-License-Identifier: MIT
# Computes and waits below C functions of the interpreter.
import time


def load_spin(n):
    return sum(i * i for i in range(n))


def load_outer():
    load_spin(100000)
    time.sleep(0.004)


for _ in range(40):
    load_outer()
