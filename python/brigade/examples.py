"""Graphs for examples and tests."""

NUMBERS = """\
# Twelve samples of two numbers, in batches of four.
stages:
  numbers: {producer: synthetic, params: {count: 12, shape: [2], dtype: f32}, batch: 4}
  train: {consumer: application, from: numbers}
"""

SQUARES = """\
# A program writes samples of two numbers and reads them back in batches of two.
stages:
  tasks: {producer: application, tensors: {x: {dtype: f32, shape: [2]}}}
  work: {transform: passthrough, from: tasks, batch: 2}
  results: {consumer: application, from: work}
"""
