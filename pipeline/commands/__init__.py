"""What the console command does, by group; `pipeline.cli` and `pipeline.collect` put it together."""
