"""Where subscriptions come from: models that make them up, and sources that read them. One file each."""
