//! Numbers of either precision, borrowed or owned.

use std::borrow::Cow;

/// Single or double precision values; computing with them is always in double precision.
#[derive(Debug, Clone)]
pub(crate) enum Values<'a> {
    F32(Cow<'a, [f32]>),
    F64(Cow<'a, [f64]>),
}

impl Values<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Values::F32(v) => v.len(),
            Values::F64(v) => v.len(),
        }
    }

    #[inline]
    pub(crate) fn get(&self, i: usize) -> f64 {
        match self {
            Values::F32(v) => f64::from(v[i]),
            Values::F64(v) => v[i],
        }
    }

    /// Address of the first value: two views of one array share it.
    pub(crate) fn address(&self) -> usize {
        match self {
            Values::F32(v) => v.as_ptr().addr(),
            Values::F64(v) => v.as_ptr().addr(),
        }
    }

    /// Largest absolute value (0 if there are none), or the position of the first value that is not finite.
    pub(crate) fn max_abs(&self) -> Result<f64, usize> {
        match self {
            Values::F32(v) => max_abs(v),
            Values::F64(v) => max_abs(v),
        }
    }

    /// Copies the values of `range` into `out`.
    pub(crate) fn load(&self, range: std::ops::Range<usize>, out: &mut [f64]) {
        match self {
            Values::F32(v) => v[range].iter().zip(out).for_each(|(&x, o)| *o = f64::from(x)),
            Values::F64(v) => out.copy_from_slice(&v[range]),
        }
    }

    pub(crate) fn view(&self) -> Values<'_> {
        match self {
            Values::F32(v) => Values::F32(Cow::Borrowed(v)),
            Values::F64(v) => Values::F64(Cow::Borrowed(v)),
        }
    }

    pub(crate) fn into_owned(self) -> Values<'static> {
        match self {
            Values::F32(v) => Values::F32(Cow::Owned(v.into_owned())),
            Values::F64(v) => Values::F64(Cow::Owned(v.into_owned())),
        }
    }

    /// The values of the given ranges, one after another, in their own precision.
    pub(crate) fn gather(
        &self,
        ranges: impl Iterator<Item = std::ops::Range<usize>> + Clone,
    ) -> Values<'static> {
        match self {
            Values::F32(v) => Values::F32(Cow::Owned(gather(v, ranges))),
            Values::F64(v) => Values::F64(Cow::Owned(gather(v, ranges))),
        }
    }
}

fn gather<T: Copy>(values: &[T], ranges: impl Iterator<Item = std::ops::Range<usize>> + Clone) -> Vec<T> {
    let mut out = Vec::with_capacity(ranges.clone().map(|range| range.len()).sum());
    ranges.for_each(|range| out.extend_from_slice(&values[range]));
    out
}

fn max_abs<T: Copy + Into<f64>>(values: &[T]) -> Result<f64, usize> {
    let mut max = 0.0_f64;
    let mut finite = true;
    for &x in values {
        let x = x.into().abs();
        finite &= x < f64::INFINITY;
        max = max.max(x);
    }
    match finite {
        true => Ok(max),
        false => Err(values.iter().position(|&x| !x.into().is_finite()).unwrap_or(0)),
    }
}
