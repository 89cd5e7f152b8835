# SPDX-License-Identifier: Apache-2.0
"""A stand-in with the paths of Hugging Face transformers, written for this test."""
