//! Theta in parts: what was found in the data, and what atoms contribute.

use crate::Result;
use kinfolk::{Matrix, Model};

/// What the part of Theta is called that no atom contributes.
pub const FREE_PART: &str = "found in the data";

/// The atom of what each task has to itself.
const OWN_PART: &str = "own";

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

/// The share of what each task has to itself, and correlations without it: it makes all correlations smaller, whatever
/// tasks have in common. `None` without such a part.
///
/// # Errors
/// If the matrix of an atom is not positive semidefinite.
pub fn shared_correlation(model: &Model) -> Result<Option<(f64, Matrix)>> {
    let parts = theta_parts(model)?;
    let own = parts.iter().find(|part| part.name == OWN_PART && part.share > 0.0);
    Ok(own.map(|own| {
        let mut rest = model.theta().clone();
        rest.as_mut_slice().iter_mut().zip(own.matrix.as_slice()).for_each(|(all, own)| *all -= own);
        (own.share, correlation(&rest))
    }))
}

/// The share of what was found in the data, and correlations of that part alone. `None` if nothing was found, or there
/// is no other part.
///
/// # Errors
/// If the matrix of an atom is not positive semidefinite.
pub fn free_correlation(model: &Model) -> Result<Option<(f64, Matrix)>> {
    let parts = theta_parts(model)?;
    let free = parts.iter().find(|part| part.name == FREE_PART && part.share > 0.0 && parts.len() > 1);
    Ok(free.map(|free| (free.share, correlation(&free.matrix))))
}

/// `M_rs / sqrt(M_rr M_ss)`; 0 where a task has nothing.
fn correlation(m: &Matrix) -> Matrix {
    let mut out = m.clone();
    for r in 0..m.rows() {
        for s in 0..m.rows() {
            let size = (m[(r, r)] * m[(s, s)]).sqrt();
            out[(r, s)] =
                if size > 0.0 { (m[(r, s)] / size).clamp(-1.0, 1.0) } else { f64::from(u8::from(r == s)) };
        }
    }
    out
}

/// Such as "61 % common, 25 % region, 14 % found in the data"; `None` without atoms.
pub fn shares_in_words(model: &Model) -> Option<String> {
    let shares = shares(model);
    let words: Vec<String> =
        shares.iter().map(|(name, share)| format!("{} % {name}", percent(*share))).collect();
    (shares.len() > 1).then(|| words.join(", "))
}

/// The share of the model that each atom has, the largest first, and then what was found in the data.
pub fn shares(model: &Model) -> Vec<(String, f64)> {
    let atoms = model.atoms();
    let rest = (1.0 - atoms.iter().map(|atom| atom.share).sum::<f64>()).max(0.0);
    let mut shares: Vec<(String, f64)> =
        atoms.iter().map(|atom| (atom.name.to_string(), atom.share)).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    shares.push((FREE_PART.into(), rest));
    shares
}

/// A share in percent, in whole numbers; a small one is not called zero, nor a large one all.
pub fn percent(share: f64) -> String {
    match 100.0 * share {
        p if p > 0.0 && p < 0.5 => "<1".into(),
        p if (99.5..100.0).contains(&p) => ">99".into(),
        p => format!("{p:.0}"),
    }
}
