"""The papers' jobs as Spark runs them: generators of records, and operators from DataFrame to DataFrame."""
