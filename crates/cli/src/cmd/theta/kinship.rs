//! Which tasks belong together: closest kin, opposites and groups, by fitted functions or by Theta.

use super::Of;
use super::ordered::{OrderedTheta, permuted};
use crate::failure::Result;
use crate::text::{Grid, number};
use kinfolk::{Matrix, Model};
use kinfolk_report::{Tree, distances, signed_distances};
use kinfolk_train::{FREE_PART, KinRule, free_correlation, percent, shared_correlation, shares};

/// Tasks of a group have at least this correlation on average; in groups of Theta, of any sign.
pub(super) const GROUP_CORRELATION: f64 = 0.5;

/// Tasks named as the closest of a task.
const MAX_KIN: usize = 3;

/// How related tasks are, with the tasks in the order of the whole.
pub(super) struct Relatives<'a> {
    whole: &'a OrderedTheta,
    /// What tasks are compared by.
    pub(super) of: Of,
    rule: KinRule,
    /// The share in Theta of what each task has to itself, and correlations without it; `None` without such a part.
    pub(super) shared: Option<(f64, Matrix)>,
    /// Tasks of each group, the largest first.
    groups: Vec<Vec<usize>>,
    /// Tasks with too few labels to tell where they belong: they are in no group.
    pub(super) untold: Vec<usize>,
    /// The last two clusters that are joined, and the mean size of the correlation between them.
    sides: Option<(Vec<Vec<usize>>, f64)>,
    /// Relations that were given, with their shares: they make groups whether these are right or not.
    given: Vec<String>,
    /// If all tasks are one group, or relations were given, the share of what was found in the data, and groups by that
    /// part alone.
    found: Option<(f64, Vec<Vec<usize>>)>,
}

/// Relations with a smaller share of the model make no groups.
const MIN_SHARE: f64 = 0.005;

/// Whether an atom says which tasks are related.
fn is_relation(name: &str) -> bool {
    !["common", "own", FREE_PART].contains(&name)
}

/// Correlations of a larger size below zero are named as opposites: smaller ones are those of tasks that have little to
/// do with each other.
const OPPOSITE: f64 = 0.25;

impl<'a> Relatives<'a> {
    /// Of functions where nothing else is asked for and the model can tell.
    pub(super) fn new(model: &Model, whole: &'a OrderedTheta, of: Option<Of>) -> Result<Self> {
        let of = of.unwrap_or(if whole.functions.is_some() { Of::Functions } else { Of::Theta });
        let shared = shared_correlation(model)?
            .map(|(share, correlation)| (share, permuted(&correlation, &whole.order)));
        let without_own = shared.as_ref().map_or(&whole.correlation, |(_, correlation)| correlation);
        let related = whole.functions.as_ref().filter(|_| of == Of::Functions).unwrap_or(without_own);
        let rule = KinRule::new(model).in_order(&whole.order);
        let (told, untold): (Vec<usize>, Vec<usize>) =
            (0..whole.names.len()).partition(|t| rule.has_a_say(*t));
        let named = |groups: Vec<Vec<usize>>| -> Vec<Vec<usize>> {
            groups.into_iter().map(|group| group.into_iter().map(|i| told[i]).collect()).collect()
        };
        let told_ones = permuted(related, &told);
        // Opposite functions are far apart. In Theta they are related, too: they lend each other as much.
        let tree = Tree::new(&if of == Of::Functions {
            signed_distances(&told_ones)
        } else {
            distances(&told_ones)
        });
        let groups = named(tree.groups(1.0 - GROUP_CORRELATION));
        let last = tree.joins().last().map(|(_, _, distance)| 1.0 - distance);
        let sides = last.map(|between| (named(tree.in_clusters(2)), between));
        let given =
            shares(model).into_iter().filter(|(name, share)| is_relation(name) && *share >= MIN_SHARE);
        let given: Vec<String> =
            given.map(|(name, share)| format!("{name} ({} % of the model)", percent(share))).collect();
        // A large common part makes one group of all tasks, whatever else they have in common.
        let found = match (groups.len() == 1 || !given.is_empty()) && told.len() > 2 {
            true => free_correlation(model)?.map(|(share, free)| {
                let free = permuted(&permuted(&free, &whole.order), &told);
                // What is left without the common part has opposites, which are no group.
                (share, named(Tree::new(&signed_distances(&free)).groups(1.0 - GROUP_CORRELATION)))
            }),
            false => None,
        };
        Ok(Relatives { whole, of, rule, shared, groups, untold, sides, given, found })
    }

    /// Names of the tasks of each group.
    pub(super) fn group_names(&self) -> Vec<Vec<&str>> {
        self.groups.iter().map(|group| self.names_of(group)).collect()
    }

    pub(super) fn names_of(&self, tasks: &[usize]) -> Vec<&str> {
        tasks.iter().map(|&t| self.whole.names[t].as_str()).collect()
    }

    /// The closest tasks of each task, the groups, and what the numbers mean.
    pub(super) fn text(&self) -> String {
        let untold = match self.untold.len() {
            0 => String::new(),
            _ => format!(
                "in no group, since they have few labels: {}\n",
                self.names_of(&self.untold).join(", ")
            ),
        };
        format!("{}\n{}{untold}\n{}", self.closest(), self.groups_in_words(), self.meaning())
    }

    /// Up to three closest tasks of each task.
    fn closest(&self) -> String {
        let whole = &self.whole.correlation;
        let (head, related, is_shared) = match (&self.whole.functions, &self.shared) {
            (Some(functions), _) if self.of == Of::Functions => {
                ("closest kin (correlation of fitted functions)", functions, false)
            }
            (_, None) => ("closest kin (correlation in Theta)", whole, false),
            (_, Some((_, correlation))) => {
                ("closest kin (correlation in Theta, without own)", correlation, true)
            }
        };
        let mut grid = Grid::new(&["task", ">Theta_tt", head]);
        for (t, name) in self.whole.names.iter().enumerate() {
            let row = related.row(t);
            let (others, opposite) =
                (self.rule.closest(related, t), self.rule.opposite(related, t, OPPOSITE));
            let kin = |&s: &usize| match is_shared {
                false => format!("{} ({:.2})", self.whole.names[s], row[s]),
                true => format!("{} ({:.2}, {:.2})", self.whole.names[s], whole[(t, s)], row[s]),
            };
            let opposite = opposite.map(|s| format!("opposite: {}", kin(&s)));
            let kin: Vec<String> = others.iter().take(MAX_KIN).map(kin).collect();
            let kin = [Some(kin.join(", ")).filter(|kin| !kin.is_empty()), opposite];
            let few =
                (!self.rule.has_a_say(t)).then(|| "few labels, so hardly more than a guess".to_string());
            let kin = kin.into_iter().chain([few]).flatten().collect::<Vec<_>>().join("; ");
            grid.row([name.clone(), number(self.whole.theta[(t, t)], 3), kin]);
        }
        grid.to_string()
    }

    fn groups_in_words(&self) -> String {
        let n = self.whole.names.len() - self.untold.len();
        let names = self.group_names();
        let rule = match self.of {
            Of::Functions => {
                format!("fitted functions with a correlation of at least {GROUP_CORRELATION} on average")
            }
            Of::Theta => {
                let without = if self.shared.is_some() { ", without own" } else { "" };
                format!("a correlation in Theta of at least {GROUP_CORRELATION} on average{without}")
            }
        };
        let alone: Vec<&str> = names.iter().filter(|group| group.len() == 1).flatten().copied().collect();
        if n > 1 && self.groups.len() == 1 {
            let sides = self.sides.as_ref().filter(|_| n > 2).map_or(String::new(), |(sides, between)| {
                let sides: Vec<String> = sides.iter().map(|side| self.names_of(side).join(", ")).collect();
                format!(
                    "its clearest division, with {between:.2} between the two sides: {}\n",
                    sides.join(" | ")
                )
            });
            let other = if self.untold.is_empty() { "" } else { "other " };
            return format!("all {n} {other}tasks are one group: {rule}\n{sides}{}", self.found_in_words());
        }
        if alone.len() == n {
            return format!("no groups of tasks: none have {rule}\n{}", self.found_in_words());
        }
        format!("{}{}", group_table(&names, &rule), self.found_in_words())
    }

    /// What relations that were given have to do with the groups, and groups of what was found in the data alone.
    fn found_in_words(&self) -> String {
        let given = match self.given.is_empty() {
            true => String::new(),
            false => format!("\ngroups may come from what was given: {}\n", self.given.join(", ")),
        };
        let Some((share, groups)) = &self.found else { return given };
        let part = format!("the part {FREE_PART} ({} % of the model)", percent(*share));
        let names: Vec<Vec<&str>> = groups.iter().map(|group| self.names_of(group)).collect();
        let n = self.whole.names.len() - self.untold.len();
        match groups.len() {
            of if of > 1 && of < n => {
                format!("{given}\n{}", group_table(&names, &format!("groups of {part} alone")))
            }
            _ if self.given.is_empty() => String::new(),
            1 => format!("{given}{part} alone has all tasks in one group\n"),
            _ => format!("{given}{part} alone has no groups\n"),
        }
    }

    fn meaning(&self) -> String {
        if self.of == Of::Functions {
            return "a correlation of 1: two tasks are predicted alike, up to scale and level; 0: what they depend on \
                    is unrelated; below 0: opposite\nwhat tasks lend each other is Theta: --of theta\n"
                .into();
        }
        let mut text = String::from(
            "a correlation of 1: two tasks are the same up to their scale; 0: they learn nothing from each other; \
             below 0: opposite\n",
        );
        if let Some((share, _)) = self.shared {
            text += &format!(
                "{} % of the model is own, what each task has to itself; it makes all correlations smaller\n",
                percent(share)
            );
        }
        text += match self.whole.functions {
            Some(_) => "how alike the fitted functions are: --of functions\n",
            None => "the model has no kernel values, so its fitted functions cannot be compared\n",
        };
        text
    }
}

/// A line for each group of several tasks, and one for those that are alone.
fn group_table(names: &[Vec<&str>], rule: &str) -> String {
    let mut grid = Grid::new(&["group", ">tasks", rule]);
    let several = names.iter().filter(|group| group.len() > 1);
    for (number, group) in several.enumerate() {
        grid.row([(number + 1).to_string(), group.len().to_string(), group.join(", ")]);
    }
    let alone: Vec<&str> = names.iter().filter(|group| group.len() == 1).flatten().copied().collect();
    if !alone.is_empty() {
        grid.row(["alone".to_string(), alone.len().to_string(), alone.join(", ")]);
    }
    grid.to_string()
}
