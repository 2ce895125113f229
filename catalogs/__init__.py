"""What applications can do, as data: one folder per application under `apps/`."""
