"""Stories: a person does something on GitHub, and something comes back."""
