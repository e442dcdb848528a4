"""From an answer to text: the report and its formats."""
