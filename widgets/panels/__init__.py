"""The panels of the workbench, one file each. A panel is given a model or facts, and answers with signals."""
