"""AuTraScale+ (2024): AuTraScale with a lightweight transfer and a plan for backlogs."""
