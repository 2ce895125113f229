"""Synthetic screens whose labels are exact, because the page that is shown also says where everything is."""
