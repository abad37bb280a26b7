"""The Pocket Arena: small websites served locally, with one isolated copy of all state per episode."""
