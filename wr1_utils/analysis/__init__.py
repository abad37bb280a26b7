"""From recorded runs to numbers: intervals, tables and figures. Reads files in `results/`, never runs an agent."""
