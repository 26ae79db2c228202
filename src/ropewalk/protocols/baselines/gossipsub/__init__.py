"""gossipsub: a mesh of a few links per topic that carries events, and gossip about them to some of the other followers."""
