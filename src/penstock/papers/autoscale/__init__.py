"""AUTOSCALE (2017): input rates by regression, activity levels, and consistency over the whole graph."""
