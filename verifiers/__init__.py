"""Verifiers: functions of (task, record) that run again on Parquet alone."""
