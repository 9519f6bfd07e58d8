//! Seconds until an objective is reached, by several methods on one problem, one after another on a machine
//! with nothing else to do.

mod page;
mod stopwatch;

pub(crate) use page::page;

use crate::data::{self, Loaded};
use crate::experiment::{ComparedMethod, Experiment, Runtime, Set, Timed};
use crate::record::{Key, RecordFile, Timing};
use crate::split;
use crate::{Error, Options, Result, RunSummary, find};
use kinfolk::{
    CScale, Dataset, DatasetOptions, Inputs, Intercept, Losses, Observations, RegularizerKind, Scaling,
    ScalingKind, Settings, Start, TargetScale,
};
use kinfolk_train::select::{FoldOrder, Scored, Study, candidates_from, cross_validate};
use kinfolk_train::{
    FitSpec, LossSpec, Measure, MethodSpec, Metric, PreparedData, StudyObserver, Unobserved, Weight,
};
use std::path::Path;
use std::time::Instant;
use stopwatch::Stopwatch;

/// A problem to be solved by all.
struct TimedProblem {
    inputs: Inputs<'static>,
    observations: Observations,
    strength: f64,
    c: f64,
    c_scale: CScale,
}

pub(crate) fn run(
    experiment: &Experiment,
    options: &Options,
    path: &Path,
    observer: &dyn StudyObserver,
) -> Result<RunSummary> {
    let records: RecordFile<Timing> = RecordFile::open(path)?;
    let Some(runtime) = &experiment.runtime else {
        return Err(Error::experiment(&experiment.item, "nothing is said of what is timed"));
    };
    let timed = records.all.clone();
    let mut run = TimingRun { experiment, runtime, records, timed, outcome: RunSummary::default(), observer };
    for set in &experiment.sets {
        let Some(loaded) = data::load(set, options.data.as_ref(), options.quick)? else {
            run.outcome.skipped.push(format!("{}: {}", set.name, data::listed(set, options.data.as_ref())));
            continue;
        };
        run.set(set, &loaded)?;
        if observer.stop() {
            run.outcome.stopped = true;
            break;
        }
    }
    Ok(run.outcome)
}

struct TimingRun<'a> {
    experiment: &'a Experiment,
    runtime: &'a Runtime,
    records: RecordFile<Timing>,
    /// Those that were there, and those of this run.
    timed: Vec<Timing>,
    outcome: RunSummary,
    observer: &'a dyn StudyObserver,
}

impl TimingRun<'_> {
    fn set(&mut self, set: &Set, loaded: &Loaded) -> Result<()> {
        let rows = split::rows(loaded, &set.split, 0, self.experiment.seed)?.train;
        let all = loaded.observations.n_tasks();
        let counts = match set.timed {
            Timed::Tasks => self.runtime.tasks.iter().map(|&t| t.min(all)).collect(),
            _ => vec![all],
        };
        let mut chosen = None;
        // The largest first: its choice of strength is everybody's.
        for &tasks in counts.iter().rev() {
            let (inputs, observations) = of_classes(loaded, &rows, tasks)?;
            let inputs = Scaling::fit(set.scale, &inputs)?.apply(&inputs)?.into_owned();
            let strengths = match (set.timed, chosen) {
                (Timed::Strengths, _) => self.runtime.range.clone(),
                (_, Some(strength)) => vec![strength],
                _ => vec![self.choose(set, &inputs, &observations)?],
            };
            chosen = strengths.first().copied();
            let c_scale = c_scale(set, &inputs, &observations)?;
            let mut problem = TimedProblem { inputs, observations, strength: 0.0, c: 0.0, c_scale };
            for strength in strengths {
                problem.strength = strength;
                problem.c = problem.c_scale.weights(&RegularizerKind::Power { k: 1 }, Some(1.0), strength)?.c;
                self.time_methods(set, loaded, &problem)?;
            }
        }
        Ok(())
    }

    /// The strength that two folds choose for the first method.
    fn choose(&self, set: &Set, inputs: &Inputs<'_>, observations: &Observations) -> Result<f64> {
        let strengths: Vec<String> = self.experiment.strengths.iter().map(f64::to_string).collect();
        let axis = format!("strength={}", strengths.join(",")).parse();
        let axis = axis.map_err(|why: String| Error::experiment(&self.experiment.item, why))?;
        let found = candidates_from(find, &[self.experiment.methods[0].method.clone()], &[axis])?;
        let loss = set.loss.clone();
        let spec = FitSpec {
            loss: LossSpec::Same(loss.clone()),
            bias: set.bias,
            intercept: Some(Intercept::None),
            // Inputs are scaled already.
            scale: ScalingKind::None,
            target_scale: TargetScale::None,
            threads: 1,
            ..FitSpec::default()
        };
        let mut study = Study::new(inputs, observations, loss.into(), spec);
        study.metric = Some(Metric::new(Measure::ClassAccuracy));
        (study.folds, study.seed, study.scored) = (2, self.experiment.seed, Scored::ByFold);
        study.fold_order = FoldOrder::TaskFirst;
        let selection = cross_validate(&study, &found, &Unobserved)?;
        let chosen = selection.and_then(|found| found.rows[found.winner].weight.strength());
        chosen.ok_or_else(|| Error::experiment(&self.experiment.item, "no strength was chosen"))
    }

    /// All methods, in turns, as often as the experiment says.
    fn time_methods(&mut self, set: &Set, loaded: &Loaded, problem: &TimedProblem) -> Result<()> {
        let mut target = None;
        for repeat in 0..self.runtime.repeats {
            for (number, method) in self.experiment.methods.iter().enumerate() {
                if self.observer.stop() {
                    return Ok(());
                }
                let mut timing = blank(set, method, loaded, problem, repeat);
                let known = self.timed.iter().find(|t| t.key() == timing.key());
                if let Some(known) = known {
                    target = target.or((number == 0).then_some(known.primal));
                    self.outcome.before += 1;
                    continue;
                }
                if method.except.contains(&set.name) || self.enough(&timing) {
                    continue;
                }
                // Ours never looks at what it reached before.
                self.time(set, method, problem, target.filter(|_| number > 0), &mut timing)?;
                target = target.or((number == 0).then_some(timing.primal));
                self.records.append(&timing)?;
                self.outcome.done += 1;
                let total = self.outcome.done + self.outcome.before;
                self.observer.done(&timing.key(), total, total);
                self.timed.push(timing);
            }
        }
        Ok(())
    }

    /// Whether an earlier repeat came to nothing, and another would tell as little, or took too long for
    /// another.
    fn enough(&self, timing: &Timing) -> bool {
        let same = |t: &&Timing| t.place() == timing.place() && t.method == timing.method;
        self.timed.iter().filter(same).any(|t| !t.reached || t.seconds > self.runtime.repeat_below)
    }

    /// From inputs and labels to the objective: others until they have reached what the first method has
    /// certified, and the first, which goes on until then, until it had reached that itself.
    fn time(
        &self,
        set: &Set,
        method: &ComparedMethod,
        problem: &TimedProblem,
        target: Option<f64>,
        timing: &mut Timing,
    ) -> Result<()> {
        let entry = MethodSpec::parse_from(find, &method.method)?;
        let settings = Settings {
            // Others end where they have what we have, which they see for themselves.
            tolerance: if target.is_none() { self.experiment.tolerance } else { 1e-12 },
            max_passes: 1_000_000,
            solver: method.solver.unwrap_or_default(),
            ..Settings::default()
        };
        let loss: Losses = set.loss.clone().into();
        timing.load = load();
        let started = Instant::now();
        let wanted = target.map(|primal| primal * (1.0 + self.experiment.tolerance));
        let mut stopwatch =
            Stopwatch::new(started, wanted, method.limit.unwrap_or(self.runtime.limit), self.observer);
        let memory = self.runtime.memory << 30;
        let options = DatasetOptions { bias: set.bias, threads: 1, memory, ..DatasetOptions::default() };
        let data = Dataset::new(&problem.inputs, &problem.observations, options)?;
        let prepared = PreparedData::new(&data, &loss, Intercept::None);
        let weight = Weight::C(problem.c);
        let fit = prepared.fit(&entry, weight, Some(1.0), &settings, Start::Cold, &mut stopwatch)?;
        let elapsed = started.elapsed().as_secs_f64();
        timing.primal = fit.certificate().primal;
        timing.target = wanted.unwrap_or(fit.certificate().primal * (1.0 + self.experiment.tolerance));
        let reached = stopwatch.when(timing.target);
        timing.reached = reached.is_some() || target.is_none();
        timing.seconds = reached.unwrap_or(elapsed);
        timing.certified = target.is_none().then_some(elapsed);
        timing.rel_gap = fit.certificate().rel_gap();
        timing.curve = stopwatch.thinned();
        Ok(())
    }
}

fn blank(
    set: &Set,
    method: &ComparedMethod,
    loaded: &Loaded,
    problem: &TimedProblem,
    repeat: usize,
) -> Timing {
    Timing {
        set: set.name.clone(),
        method: method.label.clone(),
        repeat,
        origin: loaded.origin,
        tasks: problem.observations.n_tasks(),
        rows: problem.inputs.n_inputs(),
        features: problem.inputs.n_features(),
        threads: 1,
        strength: problem.strength,
        c: problem.c,
        seconds: 0.0,
        certified: None,
        reached: false,
        primal: 0.0,
        target: 0.0,
        rel_gap: 0.0,
        curve: vec![],
        load: None,
        version: env!("CARGO_PKG_VERSION").into(),
    }
}

/// The rows of the first so many classes.
fn of_classes(loaded: &Loaded, rows: &[u32], tasks: usize) -> Result<(Inputs<'static>, Observations)> {
    let obs = &loaded.observations;
    let class = |i: u32| obs.of_input(i as usize).find(|&o| obs.label(o) > 0.0).map_or(0, |o| obs.task(o));
    let kept: Vec<u32> = rows.iter().copied().filter(|&i| class(i) < tasks).collect();
    let classes: Vec<u32> = kept.iter().map(|&i| class(i) as u32).collect();
    Ok((loaded.inputs.select_rows(&kept), Observations::multi_class(&classes, tasks)?))
}

/// From strengths to C.
fn c_scale(set: &Set, inputs: &Inputs<'_>, observations: &Observations) -> Result<CScale> {
    let options = DatasetOptions { bias: set.bias, threads: 1, ..DatasetOptions::default() };
    let data = Dataset::new(inputs, observations, options)?;
    Ok(CScale::new(&data, &set.loss.clone().into(), Intercept::None)?)
}

/// Processes that were running in the last minute, where the system tells.
fn load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}
