//! Theta in parts: what was found in the data, and what atoms contribute.

use crate::Result;
use kinfolk::{Matrix, Model};

/// What the part of Theta is called that no atom contributes.
pub const FREE_PART: &str = "found in the data";

/// A part of Theta; all of them add up to it.
#[derive(Debug, Clone, PartialEq)]
pub struct ThetaPart {
    /// Name of the atom, or [`FREE_PART`].
    pub name: String,
    /// w; `None` for the free part.
    pub weight: Option<f64>,
    /// Share of the model, `<part, rho> / <Theta, rho>`.
    pub share: f64,
    /// The part itself.
    pub matrix: Matrix,
}

/// Atoms in their order, and then what was found in the data.
///
/// # Errors
/// If the matrix of an atom is not positive semidefinite.
pub fn theta_parts(model: &Model) -> Result<Vec<ThetaPart>> {
    let (free, atoms) = model.theta_parts()?;
    let part = |(atom, matrix): (kinfolk::model::AtomPart<'_>, Matrix)| ThetaPart {
        name: atom.name.to_string(),
        weight: Some(atom.weight),
        share: atom.share,
        matrix,
    };
    let mut parts: Vec<ThetaPart> = model.atoms().into_iter().zip(atoms).map(part).collect();
    let rest = (1.0 - parts.iter().map(|part| part.share).sum::<f64>()).max(0.0);
    parts.push(ThetaPart { name: FREE_PART.into(), weight: None, share: rest, matrix: free });
    Ok(parts)
}

/// Such as "61 % common, 25 % region, 14 % found in the data"; `None` without atoms.
pub fn shares_in_words(model: &Model) -> Option<String> {
    let atoms = model.atoms();
    let rest = (1.0 - atoms.iter().map(|atom| atom.share).sum::<f64>()).max(0.0);
    let mut shares: Vec<(f64, &str)> = atoms.iter().map(|atom| (atom.share, atom.name)).collect();
    shares.sort_by(|a, b| b.0.total_cmp(&a.0));
    shares.push((rest, FREE_PART));
    let words: Vec<String> =
        shares.iter().map(|(share, name)| format!("{} % {name}", percent(*share))).collect();
    (!atoms.is_empty()).then(|| words.join(", "))
}

/// A share in percent, in whole numbers; a small one is not called zero, nor a large one all.
pub fn percent(share: f64) -> String {
    match 100.0 * share {
        p if p > 0.0 && p < 0.5 => "<1".into(),
        p if (99.5..100.0).contains(&p) => ">99".into(),
        p => format!("{p:.0}"),
    }
}
