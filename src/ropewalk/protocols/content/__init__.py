"""What events say and what is wanted of them: filters over named attributes, and the cells that these are cut into."""
