"""Command line as `python -m gramfold`, if the `gramfold` script is not on the PATH."""

from gramfold.cli import main

if __name__ == "__main__":
    main(prog_name="gramfold")
