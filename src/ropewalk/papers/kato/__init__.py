"""The claims of Kato et al., one module per figure or section."""
