"""Estimators in notebooks: scikit-learn's diagram, and below it what is known about a fitted model."""

from __future__ import annotations

from html import escape
from typing import Any


class CertificateHtml:
    """Adds the certificate to the HTML of an estimator, or of a search with a best estimator."""

    def _repr_html_inner(self) -> str:
        from sklearn.utils import estimator_html_repr

        own: str = estimator_html_repr(self)
        fitted = getattr(self, "best_estimator_", self)
        return own + certificate(fitted) if hasattr(fitted, "model_") else own

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle


def certificate(estimator: Any) -> str:
    """What is known about a fitted model, as a small table."""
    sure = "proved" if estimator.status_ == "certified" else "not proved to the tolerance"
    lines = [
        ("certificate", f"{sure}: within {estimator.rel_gap_:.1e} of the optimum ({estimator.claim_ or 'optimal'})"),
        ("objective", f"{estimator.primal_:.6g}, no model below {estimator.dual_:.6g}"),
        ("tasks", f"{len(estimator.theta_names_)}"),
        ("C", f"{estimator.C_:.4g}"),
    ]
    if estimator.cv_score_ is not None:
        lines.append(("score of held-out rows", f"{estimator.cv_score_:.4f}"))
    shares = estimator.atom_shares_
    if shares:
        parts = [f"{share:.0%} {name}" for name, share in shares.items()]
        parts.append(f"{max(0.0, 1 - sum(shares.values())):.0%} found in the data")
        lines.append(("Theta", ", ".join(parts)))
    rows = "".join(f"<tr><th style='text-align:left'>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in lines)
    return f"<table class='kinfolk-certificate' style='margin-top:0.5em'>{rows}</table>"
