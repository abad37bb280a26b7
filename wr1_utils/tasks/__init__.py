"""What is asked: task records, their scoring, and one module per benchmark."""
