"""Graphs to try things with."""

NUMBERS = """\
# Twelve samples of two numbers, in batches of four.
stages:
  numbers: {producer: synthetic, params: {count: 12, shape: [2], dtype: f32}, batch: 4}
  train: {consumer: application, from: numbers}
"""
