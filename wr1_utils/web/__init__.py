"""What the agent sees and does: one Chromium, its pages as text, the grammar of actions, and the episode."""
