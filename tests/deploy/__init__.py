"""The images and the stack of deploy/, on a real engine."""
