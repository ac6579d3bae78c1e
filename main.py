"""Starts the program."""

try:
    from app.cli.main import main
except ModuleNotFoundError as missing:
    raise SystemExit(
        f"brokerscope: {missing.name} is not installed; run make setup, then .venv/bin/python main.py"
    ) from None
except KeyboardInterrupt:
    raise SystemExit(130) from None

if __name__ == "__main__":
    raise SystemExit(main())
