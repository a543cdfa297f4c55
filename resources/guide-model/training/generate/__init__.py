"""Turns the texts in data/ into training dialogues: lists of (question, answer) rounds."""
from .dialogue import SKILLS, Generator, Texts, all_texts
from .heldout import HeldOut, normal
from .texts import DataError

__all__ = ["SKILLS", "DataError", "Generator", "HeldOut", "Texts", "all_texts", "normal"]
