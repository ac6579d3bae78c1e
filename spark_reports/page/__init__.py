"""The page: findings, key figures, plots and tables in one HTML file that needs nothing else."""
