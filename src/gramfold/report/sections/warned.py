"""What the fit warned of, in full."""

from gramfold.report.markup import bullets, named, paragraph, section
from gramfold.report.sections.found import Found
from gramfold.runtime.counting import counted


def warnings_section(found: Found) -> str:
    """All of the warnings."""
    subject = found.subject
    model = None if subject.model is None else vars(subject.model).get("model_")
    # those of the fit are in the model too, in the same words
    told = list(dict.fromkeys([*subject.warnings, *getattr(model, "warned", ())]))
    if not told:
        words = "The fit gave no warning." if model is not None else "A map made elsewhere brings no warnings."
        return section("warnings", "Warnings of the fit", "", paragraph(words))
    lead = paragraph(f"The fit gave {counted(len(told), 'warning')}.")
    return section("warnings", "Warnings of the fit", lead, bullets((named(text) for text in told), "warned"))
