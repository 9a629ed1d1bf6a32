"""The sentences that people read, in English and Chinese."""
