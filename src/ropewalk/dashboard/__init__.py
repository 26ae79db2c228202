"""A running network, or a recorded run, in the browser."""
