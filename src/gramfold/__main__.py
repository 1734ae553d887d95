"""`python -m gramfold`, for where the script is not on the path."""

from gramfold.cli import main

if __name__ == "__main__":
    main(prog_name="gramfold")
