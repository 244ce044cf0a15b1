"""The intake: how messages relate to what is known."""
