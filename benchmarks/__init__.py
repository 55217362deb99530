"""How fast Penstock is. Each module measures one thing: `rows()` yields what it found, one dataclass at a time."""
