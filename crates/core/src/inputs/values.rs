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

    /// Copies rows of so many values into `out`, one after another.
    pub(crate) fn load_rows(&self, rows: &[u32], cols: usize, out: &mut [f64]) {
        match self {
            Values::F32(values) => pulp::Arch::new().dispatch(LoadRows { values, rows, cols, out }),
            Values::F64(values) => pulp::Arch::new().dispatch(LoadRows { values, rows, cols, out }),
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

/// Values looked at together, so that compilers make vector instructions of it.
const LANES: usize = 16;

fn max_abs<T: Copy + Into<f64>>(values: &[T]) -> Result<f64, usize> {
    match pulp::Arch::new().dispatch(MaxAbs(values)) {
        (max, true) => Ok(max),
        (_, false) => Err(values.iter().position(|&x| !x.into().is_finite()).unwrap_or(0)),
    }
}

/// Copies rows, in double precision.
struct LoadRows<'a, T> {
    values: &'a [T],
    rows: &'a [u32],
    cols: usize,
    out: &'a mut [f64],
}

impl<T: Copy + Into<f64>> pulp::NullaryFnOnce for LoadRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let LoadRows { values, rows, cols, out } = self;
        for (&i, out) in rows.iter().zip(out.chunks_exact_mut(cols)) {
            let own = &values[i as usize * cols..(i as usize + 1) * cols];
            out.iter_mut().zip(own).for_each(|(out, x)| *out = (*x).into());
        }
    }
}

/// The largest absolute value, and whether all are finite.
struct MaxAbs<'a, T>(&'a [T]);

impl<T: Copy + Into<f64>> pulp::NullaryFnOnce for MaxAbs<'_, T> {
    type Output = (f64, bool);

    #[inline(always)]
    fn call(self) -> (f64, bool) {
        // A product with zero is NaN for what is not finite.
        let (mut max, mut zero) = ([0.0_f64; LANES], [0.0_f64; LANES]);
        let (chunks, rest) = self.0.as_chunks::<LANES>();
        for chunk in chunks {
            for k in 0..LANES {
                let x = chunk[k].into().abs();
                max[k] = if x > max[k] { x } else { max[k] };
                zero[k] += x * 0.0;
            }
        }
        for (k, x) in rest.iter().enumerate() {
            let x = (*x).into().abs();
            max[k] = if x > max[k] { x } else { max[k] };
            zero[k] += x * 0.0;
        }
        (max.into_iter().fold(0.0, f64::max), zero.iter().all(|x| *x == 0.0))
    }
}
