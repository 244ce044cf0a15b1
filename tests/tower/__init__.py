"""Tests of the control tower."""
