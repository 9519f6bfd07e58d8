//! Files of statistics: one safetensors file, with M moments: one for all tasks, or one for each task with rows.
//!
//! | Tensor | Type | Shape |
//! |---|---|---|
//! | `weight` | f64 | M |
//! | `unit`, `mean`, `mean_rest` | f64 | M x (features + labels) |
//! | `xx` | f64 | M x features (features + 1) / 2, the lower triangle by rows |
//! | `xy` | f64 | M x features x labels |
//! | `yy` | f64 | M x labels |
//! | `low`, `high` | f64 | features; not in version 1 |
//! | `others` | u32 | 1 for features with other values, too, else 0; with `low` and `high` |
//! | `sample_features` | f64 | rows kept x features |
//! | `sample_row`, `sample_task` | u32 | labels kept |
//! | `sample_label`, `sample_weight` | f64 | labels kept |

use super::moments::RowMoments;
use super::ranges::FeatureRanges;
use super::sample::{RowSample, SampledLabel, SampledRow};
use super::{Counts, Layout, Statistics, StatisticsOptions};
use crate::tensors::{self, FileKind, Tensors, doubles, integers, wrong};
use crate::{Error, Matrix, Result, TaskNames};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What makes a safetensors file one of statistics.
const FILE_KIND: FileKind = FileKind { key: "kinfolk_statistics", name: "statistics", newest_version: 2 };

/// Everything that is not an array.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatisticsAbout {
    n_features: usize,
    tasks: TaskNames,
    counts: Counts,
    sample_rows: usize,
    /// Whether there is one moment for all tasks.
    shared: bool,
    /// The task of each moment; empty if it is shared.
    task_of_moment: Vec<u32>,
    /// Rows of each moment.
    rows: Vec<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attachment: Option<String>,
}

impl Statistics {
    /// Writes the statistics to a file, replacing one that is there: completely or not at all.
    ///
    /// # Errors
    /// [`Error::Io`] if the system refuses.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        tensors::save(path.as_ref(), &self.to_bytes()?)
    }

    /// Reads statistics from a file that [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, [`Error::Model`] if it is not a sound file of statistics.
    pub fn load(path: impl AsRef<Path>) -> Result<Statistics> {
        tensors::load(path.as_ref(), Statistics::from_bytes)
    }

    /// The contents of a file. The same statistics give the same bytes.
    ///
    /// # Errors
    /// [`Error::Model`] if it cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let (moments, task_of_moment): (Vec<&RowMoments>, Vec<u32>) = match &self.layout {
            Layout::Shared(own) => (own.as_deref().into_iter().collect(), vec![]),
            Layout::PerTask(tasks) => {
                let known = tasks.iter().enumerate().filter_map(|(t, own)| Some((own.as_ref()?, t as u32)));
                known.unzip()
            }
        };
        let about = StatisticsAbout {
            n_features: self.n_features,
            tasks: self.tasks.clone(),
            counts: self.counts.clone(),
            sample_rows: self.sample.most_rows,
            shared: matches!(self.layout, Layout::Shared(_)),
            task_of_moment,
            rows: moments.iter().map(|own| own.rows).collect(),
            attachment: self.attachment.clone(),
        };
        let (m, d, k) = (moments.len(), self.n_features, self.labels_of_moment());
        let list = |of: &dyn Fn(&RowMoments) -> Vec<f64>| -> Vec<f64> {
            moments.iter().flat_map(|own| of(own)).collect()
        };
        let lower = |own: &RowMoments| (0..d).flat_map(|i| own.xx.row(i)[..=i].to_vec()).collect();
        let mut out = vec![
            ("weight", doubles(&list(&|own| vec![own.weight]), vec![m])),
            ("unit", doubles(&list(&|own| own.unit.clone()), vec![m, d + k])),
            ("mean", doubles(&list(&|own| own.mean.clone()), vec![m, d + k])),
            ("mean_rest", doubles(&list(&|own| own.mean_rest.clone()), vec![m, d + k])),
            ("xx", doubles(&list(&lower), vec![m, d * (d + 1) / 2])),
            ("xy", doubles(&list(&|own| own.xy.as_slice().to_vec()), vec![m, d, k])),
            ("yy", doubles(&list(&|own| own.yy.clone()), vec![m, k])),
        ];
        let FeatureRanges { low, high, others } = &self.ranges;
        if low.len() == d && low.iter().chain(high).all(|x| x.is_finite()) {
            let others: Vec<u32> = others.iter().map(|others| u32::from(*others)).collect();
            out.extend([
                ("low", doubles(low, vec![d])),
                ("high", doubles(high, vec![d])),
                ("others", integers(&others)),
            ]);
        }
        let rows = &self.sample.rows;
        let labels: Vec<(u32, &SampledLabel)> = rows
            .iter()
            .enumerate()
            .flat_map(|(i, row)| row.labels.iter().map(move |own| (i as u32, own)))
            .collect();
        let numbers = |of: &dyn Fn(&SampledLabel) -> f64| {
            doubles(&labels.iter().map(|(_, own)| of(own)).collect::<Vec<f64>>(), vec![labels.len()])
        };
        let features: Vec<f64> = rows.iter().flat_map(|row| row.features.iter().copied()).collect();
        out.extend([
            ("sample_features", doubles(&features, vec![rows.len(), d])),
            ("sample_row", integers(&labels.iter().map(|(i, _)| *i).collect::<Vec<u32>>())),
            ("sample_task", integers(&labels.iter().map(|(_, own)| own.task).collect::<Vec<u32>>())),
            ("sample_label", numbers(&|own| own.label)),
            ("sample_weight", numbers(&|own| own.weight)),
        ]);
        tensors::to_bytes(&FILE_KIND, &out, &about, None)
    }

    /// Reads statistics from the contents of a file.
    ///
    /// # Errors
    /// [`Error::Model`] as for [`load`](Self::load).
    pub fn from_bytes(bytes: &[u8]) -> Result<Statistics> {
        let (envelope, mut tensors) = Tensors::open(bytes, &FILE_KIND)?;
        let about: StatisticsAbout =
            serde_json::from_str(envelope.about.get()).map_err(|error| wrong("about", error))?;
        check(&about)?;
        let defaults = StatisticsOptions::default();
        let mut read = Statistics {
            memory: defaults.memory,
            threads: defaults.threads,
            n_features: about.n_features,
            tasks: about.tasks.clone(),
            layout: if about.shared {
                Layout::Shared(None)
            } else {
                Layout::PerTask(vec![None; about.tasks.len()])
            },
            counts: about.counts.clone(),
            ranges: ranges(&about, &mut tensors)?,
            sample: RowSample::new(about.sample_rows),
            attachment: about.attachment.clone(),
        };
        let moments = moments(&about, read.labels_of_moment(), &mut tensors)?;
        match &mut read.layout {
            Layout::Shared(own) => *own = moments.into_iter().next().map(Box::new),
            Layout::PerTask(tasks) => {
                for (&task, own) in about.task_of_moment.iter().zip(moments) {
                    tasks[task as usize] = Some(own);
                }
            }
        }
        read.sample.rows = sampled_rows(&about, &mut tensors)?;
        tensors.finish(&[], "a file of statistics")?;
        Ok(read)
    }

    /// The number of labels that a moment is about.
    fn labels_of_moment(&self) -> usize {
        if matches!(self.layout, Layout::Shared(_)) { self.tasks.len() } else { 1 }
    }
}

fn check(about: &StatisticsAbout) -> Result<()> {
    let (m, t) = (about.rows.len(), about.tasks.len());
    let tasks_fit = match about.shared {
        true => m <= 1 && about.task_of_moment.is_empty(),
        false => {
            about.task_of_moment.len() == m
                && about.task_of_moment.windows(2).all(|pair| pair[0] < pair[1])
                && about.task_of_moment.iter().all(|&task| (task as usize) < t)
        }
    };
    // d^2 must be a number before it is the size of anything.
    let in_range = |size: usize| size < u32::MAX as usize;
    if !(tasks_fit && in_range(t) && in_range(about.n_features) && in_range(about.sample_rows)) {
        return Err(wrong("about", "its sizes do not fit together"));
    }
    about.tasks.check_distinct().map_err(|error| wrong("about", error))
}

fn moments(about: &StatisticsAbout, k: usize, tensors: &mut Tensors<'_>) -> Result<Vec<RowMoments>> {
    let (m, d) = (about.rows.len(), about.n_features);
    let triangle = d * (d + 1) / 2;
    let mut take = |name: &str, shape: &[usize]| -> Result<Vec<f64>> {
        let values = tensors.doubles(name, shape)?;
        match values.iter().position(|x| !x.is_finite()) {
            Some(j) => Err(wrong(format!("tensor {name}"), format!("entry {j} is {}", values[j]))),
            None => Ok(values),
        }
    };
    let (weight, unit) = (take("weight", &[m])?, take("unit", &[m, d + k])?);
    let (mean, mean_rest) = (take("mean", &[m, d + k])?, take("mean_rest", &[m, d + k])?);
    let (xx, xy, yy) = (take("xx", &[m, triangle])?, take("xy", &[m, d, k])?, take("yy", &[m, k])?);
    if weight.iter().chain(&unit).any(|x| *x <= 0.0) || yy.iter().any(|y| *y < 0.0) {
        return Err(wrong("moments", "a weight, a unit or a sum of squares is not positive"));
    }
    let of_moment = |i: usize| -> Result<RowMoments> {
        let part = |all: &[f64], size: usize| all[i * size..(i + 1) * size].to_vec();
        let mut full = Matrix::zeros(d, d);
        let mut entries = xx[i * triangle..(i + 1) * triangle].iter();
        for row in 0..d {
            full.row_mut(row)[..=row].iter_mut().zip(&mut entries).for_each(|(to, from)| *to = *from);
        }
        Ok(RowMoments {
            rows: about.rows[i],
            weight: weight[i],
            unit: part(&unit, d + k),
            mean: part(&mean, d + k),
            mean_rest: part(&mean_rest, d + k),
            xx: full,
            xy: Matrix::from_vec(part(&xy, d * k), d, k).map_err(|error| wrong("tensor xy", error))?,
            yy: part(&yy, k),
        })
    };
    (0..m).map(of_moment).collect()
}

fn ranges(about: &StatisticsAbout, tensors: &mut Tensors<'_>) -> Result<FeatureRanges> {
    let shape = [about.n_features];
    let mut take = |name: &str| tensors.if_listed(name, |tensors, name| tensors.doubles(name, &shape));
    let (low, high) = (take("low")?, take("high")?);
    let others = tensors.if_listed("others", |tensors, name| tensors.integers(name))?;
    match (low, high, others) {
        (Some(low), Some(high), Some(others))
            if low.iter().zip(&high).all(|(low, high)| low <= high) && others.len() == low.len() =>
        {
            Ok(FeatureRanges { low, high, others: others.into_iter().map(|others| others != 0).collect() })
        }
        (None, None, None) if about.counts.inputs > 0 => Ok(FeatureRanges::unknown(about.n_features)),
        (None, None, None) => Ok(FeatureRanges::default()),
        _ => Err(wrong("ranges", "the smallest value of a feature is not below the largest")),
    }
}

fn sampled_rows(about: &StatisticsAbout, tensors: &mut Tensors<'_>) -> Result<Vec<SampledRow>> {
    let (rows, tasks) = (tensors.integers("sample_row")?, tensors.integers("sample_task")?);
    let n = rows.last().map_or(0, |last| *last as usize + 1);
    let list = [rows.len()];
    let (labels, weights) =
        (tensors.doubles("sample_label", &list)?, tensors.doubles("sample_weight", &list)?);
    let features = tensors.doubles("sample_features", &[n, about.n_features])?;
    let sound = tasks.len() == rows.len()
        && rows.windows(2).all(|pair| pair[0] == pair[1] || pair[0] + 1 == pair[1])
        && rows.first().is_none_or(|first| *first == 0)
        && tasks.iter().all(|&task| (task as usize) < about.tasks.len())
        && features.iter().chain(&labels).all(|x| x.is_finite())
        && weights.iter().all(|w| w.is_finite() && *w > 0.0);
    if !sound {
        return Err(wrong("sample", "rows, tasks, labels or weights are not those of a sample"));
    }
    let row = |i: usize| SampledRow::new(features[i * about.n_features..][..about.n_features].to_vec());
    let mut out: Vec<SampledRow> = (0..n).map(row).collect();
    for (o, &i) in rows.iter().enumerate() {
        out[i as usize].labels.push(SampledLabel { task: tasks[o], label: labels[o], weight: weights[o] });
    }
    let hashes = super::sample::hashes_of_names(&about.tasks);
    out.iter_mut().for_each(|row| row.set_hash(&hashes));
    Ok(out)
}

impl Serialize for Statistics {
    /// The bytes of its file.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.to_bytes().map_err(serde::ser::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for Statistics {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let bytes: Vec<u8> = Vec::deserialize(deserializer)?;
        Statistics::from_bytes(&bytes).map_err(|error: Error| serde::de::Error::custom(error))
    }
}
