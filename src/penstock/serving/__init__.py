"""What the page and the metrics share: where they listen, and whom they answer."""
