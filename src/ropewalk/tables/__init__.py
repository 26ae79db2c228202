"""What is stored. Tables are the interfaces between the steps: whoever made one, whoever reads one agrees on it here."""
