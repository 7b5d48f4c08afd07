"""What the scripts about the pages share: update-docs, check-docs and run-docs."""
