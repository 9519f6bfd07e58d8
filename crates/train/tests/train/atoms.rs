//! Relations of tasks from files and lists: aligned by name, checked, and used for tasks without rows.

use kinfolk::inputs::{Dense, Inputs};
use kinfolk::regularizer::AtomKind;
use kinfolk::{Intercept, Observations, Silent, Start, TaskNames};
use kinfolk_io::ColumnRoles;
use kinfolk_train::{
    AtomSetting, Data, FitSpec, RelationData, RelationKind, ResolvedAtoms, TaskKernel, Trained, Weight,
    shares_in_words, theta_parts, train,
};
use proptest::prelude::*;
use std::path::PathBuf;

fn tasks(names: &[&str]) -> TaskNames {
    TaskNames::Strings(names.iter().map(|name| name.to_string()).collect())
}

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

/// A file that goes away.
struct TextFile(tempfile::TempDir);

impl TextFile {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("r.csv"), text).unwrap();
        TextFile(folder)
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("r.csv")
    }
}

fn resolved(atom: &str, text: &str, names: &[&str]) -> Result<ResolvedAtoms, String> {
    let file = TextFile::new(text);
    let (kind, rest) = atom.split_once('=').unwrap_or((atom, ""));
    let atom: AtomSetting = format!("{kind}={}{rest}", file.path().display()).parse().unwrap();
    let columns = ColumnRoles { task: Some("shop".into()), ..ColumnRoles::default() };
    ResolvedAtoms::new(&[atom], &tasks(names), &columns)
        .map_err(|error| error.to_string().replace(&file.path().display().to_string(), "r.csv"))
}

fn matrix(found: &ResolvedAtoms) -> Vec<Vec<f64>> {
    match &found.atoms[0].relation {
        AtomKind::Matrix { rows } => rows.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn relations_in_files_are_aligned_by_name() {
    let names = ["b", "a", "c"];
    let groups =
        resolved("groups=:region", "x,region,shop\n1,north,a\n2,south,b\n3,north,c\n4,north,a\n", &names)
            .unwrap();
    assert_eq!(groups.atoms[0].relation, AtomKind::Groups { groups: vec![0, 1, 1] });
    assert_eq!((groups.atoms[0].name.as_str(), groups.atoms[0].weight), ("region", 10.0));
    assert!(groups.notes.is_empty());
    let tree = resolved("tree", "task,path\na,x/y\nb,x/z\nc,w\n", &names).unwrap();
    assert_eq!(matrix(&tree), [[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]]);
    let parents = "node,parent\ny,x\nx,\na,y\nb,x\nc,\n";
    assert_eq!(
        matrix(&resolved("tree", parents, &names).unwrap()),
        [[2.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 1.0]]
    );
    let graph = matrix(
        &resolved("graph", "a,b,weight\na,c,3\nc,a,3\n", &names).unwrap_or_else(|why| panic!("{why}")),
    );
    assert!((graph[1][2] - 3.0 / 7.0).abs() < 1e-15 && graph[0] == [1.0, 0.0, 0.0]);
    let triples = "from,to,distance\na,b,1\nc,a,4\nb,c,2\n";
    let square = "task,a,b,c\nc,4,2,0\nb,1,0,2\na,0,1,4\n";
    let distance = matrix(&resolved("distance", triples, &names).unwrap());
    assert_eq!(matrix(&resolved("distance", square, &names).unwrap()), distance);
    assert!((distance[0][1] - (-0.5f64).exp()).abs() < 1e-15 && distance[1][2] == (-2.0f64).exp());
    let likeness = resolved("matrix", ",a,b,c\na,2,1,0\nb,1,3,0\nc,0,0,1\n", &names).unwrap();
    assert_eq!(matrix(&likeness), [[3.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]]);
    let linear =
        resolved("features=,kernel=linear", "shop,size,floors\na,1,2\nb,3,2\nc,2,2\n", &names).unwrap();
    let entries = matrix(&linear);
    assert!(
        (entries[0][0] - 1.5).abs() < 1e-12
            && (entries[0][1] + 1.5).abs() < 1e-12
            && entries[2][2].abs() < 1e-12
    );
    let rbf = matrix(&resolved("features", "shop,size\na,1\nb,3\nc,2\n", &names).unwrap());
    assert!((rbf[0][2] - (-1.0f64).exp()).abs() < 1e-12 && (rbf[0][1] - (-4.0f64).exp()).abs() < 1e-12);
}

#[test]
fn tasks_that_only_one_side_knows_are_told_of() {
    let groups = resolved("groups=:region", "task,region\na,north\nz,north\nq,\n", &["a", "b"]).unwrap();
    assert_eq!(
        groups.notes,
        [
            "atom \"region\": tasks that it does not name, each is a group of its own: b",
            "atom \"region\": tasks that the data do not have: z",
        ]
    );
    let why = |atom: &str, text: &str| resolved(atom, text, &["a", "b"]).unwrap_err();
    assert_eq!(
        why("tree", "task,path\na,x\n"),
        "atom \"tree\": r.csv: 1 task of the data not in it: b; add them"
    );
    assert_eq!(
        why("groups", "task,region\nA,x\nB,y\n"),
        "atom \"groups\": r.csv: it names none of the tasks of the data (a, b), only A, B; names must be spelled alike"
    );
}

#[test]
fn files_that_make_no_sense_are_refused_with_line_and_cure() {
    let why = |atom: &str, text: &str| resolved(atom, text, &["a", "b"]).unwrap_err();
    for (atom, text, message) in [
        (
            "groups",
            "task,x,y\na,1,2\n",
            "r.csv: which column? Name it, groups=FILE:COLUMN; the columns are \"task\", \"x\", \"y\"",
        ),
        (
            "groups=:z",
            "task,x,y\na,1,2\n",
            "r.csv: there is no column \"z\" beside the tasks; the columns are \"task\", \"x\", \"y\"",
        ),
        ("groups", "task\na\n", "r.csv: groups needs a column beside that of the tasks"),
        (
            "groups",
            "task,x\na,1\nb,1\na,2\n",
            "r.csv: line 4: task \"a\" is in \"2\", and in \"1\" further up",
        ),
        ("groups", "task,x\na,1\n,1\n", "r.csv: line 3, column \"task\": no name"),
        ("groups", "task,x\na,1\nb\n", "r.csv: line 3: there are 1 cells, and the header has 2"),
        (
            "tree",
            "task,parent\na,b\nb,a\n",
            "r.csv: line 3: \"a\" is its own ancestor: a tree has no circles",
        ),
        (
            "graph",
            "a,b,w,v\na,b,1,1\n",
            "r.csv: there are 4 columns; a graph has two columns of tasks, and one of weights or none",
        ),
        ("graph", "a,b,w\na,b,x\n", "r.csv: line 2, column \"w\": \"x\" is not a number"),
        (
            "graph",
            "a,b,w\na,b,-1\n",
            "r.csv: line 2: the weight of \"a\" and \"b\" is -1, it must not be negative",
        ),
        (
            "graph",
            "a,b,w\na,b,1\nb,a,2\n",
            "r.csv: line 3: the weight of \"b\" and \"a\" is 2, and 1 further up",
        ),
        (
            "distance",
            "x,y,d\na,a,0\nb,b,0\n",
            "atom \"distance\": r.csv: it has no distance from \"a\" to \"b\"",
        ),
        ("distance", "x,y,d\na,b,1\na,a,3\n", "r.csv: the distance from \"a\" to itself is 3, it must be 0"),
        (
            "distance",
            "t,a,b\na,0,1\nb,2,0\n",
            "r.csv: it is not symmetric: 1 from \"a\" to \"b\", 2 the other way round",
        ),
        (
            "matrix",
            "t,a,b\na,0,1\n",
            "r.csv: task \"b\" of the first line has no row: a square matrix has one for each task",
        ),
        (
            "matrix",
            "t,a\na,0\nb,1\n",
            "r.csv: line 3: task \"b\" of the first column is not in the first line, which names all tasks; a square \
             file has their names in its first line and in its first column (pandas: to_csv with its index)",
        ),
        ("matrix", "t,a,b\na,1,\nb,1,1\n", "r.csv: line 2, column \"b\": no number"),
        ("features", "t,x\na,1\na,2\n", "r.csv: task \"a\" is there twice"),
        ("features", "t,x\na,1\nb,nan\n", "r.csv: line 3, column \"x\": \"nan\" is not a number"),
        ("matrix", "t,a,b\na,0,0\nb,0,0\n", ""),
    ] {
        let Err(found) = resolved(atom, text, &["a", "b"]) else {
            assert!(message.is_empty(), "{text}");
            continue;
        };
        assert_eq!(found, message, "{text}");
    }
    assert!(why("matrix", "t,a,b\na,1,2\nb,2,1\n").contains(
        "it is not positive semidefinite: its smallest eigenvalue is -0.333 times the largest; give a similarity"
    ));
    let missing: AtomSetting = "groups=nowhere.csv".parse().unwrap();
    let error =
        ResolvedAtoms::new(&[missing], &tasks(&["a"]), &ColumnRoles::default()).unwrap_err().to_string();
    assert!(error.starts_with("nowhere.csv: "), "{error}");
    let array: AtomSetting = "matrix=m.npy".parse().unwrap();
    let error =
        ResolvedAtoms::new(&[array], &tasks(&["a"]), &ColumnRoles::default()).unwrap_err().to_string();
    assert_eq!(
        error,
        "m.npy: it has no names; expected .csv, .tsv, .txt, .jsonl, .ndjson, .parquet, .arrow, .feather or .ipc; \
         texts also with .gz, .bz2 or .zst"
    );
}

#[test]
fn small_negative_eigenvalues_are_cut_off_aloud() {
    let rows = vec![vec![1.0, 1.01], vec![1.01, 1.0]];
    let atom = AtomSetting::new(
        "likeness",
        RelationKind::Matrix,
        RelationData::Rows { tasks: texts(&["a", "b"]), rows },
    );
    let found = ResolvedAtoms::new(&[atom], &tasks(&["a", "b"]), &ColumnRoles::default()).unwrap();
    assert_eq!(
        found.notes,
        ["atom \"likeness\": negative eigenvalues, down to -5.0e-3 times the largest, were set to 0"]
    );
    assert!(matrix(&found).iter().flatten().all(|x| (x - 1.005).abs() < 1e-12));
}

/// Six tasks in two groups that differ in sign, 12 rows each; the last `empty` tasks have none.
fn data(names: &[&str], empty: usize) -> (Inputs<'static>, Observations) {
    let (mut x, mut y, mut task) = (vec![], vec![], vec![]);
    let filled = names.len() - empty;
    for i in 0..12 * filled {
        let row: Vec<f64> =
            (0..4).map(|j| f64::from(((i * (7 + 4 * j) + 3 * j) % 23) as u32) / 11.0 - 1.0).collect();
        let t = i % filled;
        let side = if t.is_multiple_of(2) { 1.0 } else { -1.0 };
        y.push(side * (row[0] - 2.0 * row[1]) + 0.3 * row[2] + 0.1 * t as f64 * row[3] + 5.0 * t as f64);
        x.extend(row);
        task.push(t as u32);
    }
    let n = y.len();
    let observations = Observations::multi_task(&task, y).unwrap().with_task_names(tasks(names)).unwrap();
    (Dense::f64_owned(x, n, 4).unwrap().into(), observations)
}

fn region(names: &[&str], labels: &[&str]) -> AtomSetting {
    AtomSetting::new(
        "region",
        RelationKind::Groups,
        RelationData::Labels { tasks: texts(names), labels: texts(labels) },
    )
}

fn fitted(atoms: Vec<AtomSetting>, names: &[&str], empty: usize) -> Trained {
    let (inputs, observations) = data(names, empty);
    let spec = FitSpec {
        atoms,
        c: Weight::C(1.0),
        tol: 1e-9,
        method: "fmtl".parse().unwrap(),
        ..FitSpec::default()
    };
    train(&spec, Data::Arrays(&inputs, &observations), Start::Cold, &mut Silent).unwrap()
}

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const LABELS: [&str; 6] = ["n", "s", "n", "s", "n", "s"];

#[test]
fn a_fit_with_a_relation_says_how_much_it_is_used_and_comes_back_from_a_file() {
    let trained = fitted(vec![region(&NAMES, &LABELS)], &NAMES, 0);
    let parts = theta_parts(&trained.model).unwrap();
    assert_eq!(
        parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>(),
        ["region", "found in the data"]
    );
    assert!((parts.iter().map(|part| part.share).sum::<f64>() - 1.0).abs() < 1e-12 && parts[0].share > 0.2);
    for r in 0..6 {
        for s in 0..6 {
            let sum: f64 = parts.iter().map(|part| part.matrix[(r, s)]).sum();
            assert!((sum - trained.model.theta()[(r, s)]).abs() < 1e-12);
        }
    }
    assert!(shares_in_words(&trained.model).unwrap().contains(" % region, "));
    let file = tempfile::tempdir().unwrap();
    let path = file.path().join("m.st");
    std::fs::write(&path, trained.to_bytes().unwrap()).unwrap();
    let again = Trained::load(&path).unwrap();
    assert_eq!(again.spec, trained.spec);
    assert_eq!(again.spec.atoms[0].data, trained.spec.atoms[0].data);
    let toml = again.spec.to_toml().unwrap();
    assert_eq!(FitSpec::from_toml(&toml).unwrap(), again.spec, "{toml}");
    let weightless = fitted(vec![AtomSetting { weight: Some(0.0), ..region(&NAMES, &LABELS) }], &NAMES, 0);
    let plain = fitted(vec![], &NAMES, 0);
    assert_eq!(weightless.model.theta(), plain.model.theta());
    assert_eq!((shares_in_words(&plain.model), shares_in_words(&weightless.model)), (None, None));
}

#[test]
fn the_order_of_tasks_in_a_relation_changes_no_bit() {
    let reversed: Vec<&str> = NAMES.iter().rev().copied().collect();
    let labels: Vec<&str> = LABELS.iter().rev().copied().collect();
    let (one, other) = (
        fitted(vec![region(&NAMES, &LABELS)], &NAMES, 0),
        fitted(vec![region(&reversed, &labels)], &NAMES, 0),
    );
    assert_eq!(one.model.theta(), other.model.theta());
}

#[test]
fn methods_that_take_no_atoms_say_so() {
    let (inputs, observations) = data(&NAMES, 0);
    let atoms = vec![region(&NAMES, &LABELS)];
    for (method, why) in [
        ("stl", "method stl: it takes no atoms, and \"region\" is given"),
        ("fmtl:atom.area=3", "there is no atom \"area\""),
    ] {
        let spec = FitSpec { atoms: atoms.clone(), method: method.parse().unwrap(), ..FitSpec::default() };
        let error = train(&spec, Data::Arrays(&inputs, &observations), Start::Cold, &mut Silent).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    assert!(
        "stl:atom.region=1"
            .parse::<kinfolk_train::MethodSpec>()
            .unwrap_err()
            .to_string()
            .contains("takes no atoms")
    );
}

/// One new task of each kind of relation, with rows and known relatives.
#[test]
fn a_new_task_is_predicted_as_the_model_with_an_empty_task_predicts_it() {
    let rows: Vec<Vec<f64>> =
        (0..7).map(|t| vec![if t % 2 == 0 { 0.1 * t as f64 } else { 3.0 }, 0.2 * t as f64]).collect();
    let all = ["a", "b", "c", "d", "e", "f", "new"];
    let paths = ["n/a", "s/b", "n/c", "s/d", "n/e", "s/f", "n/new"];
    let square: Vec<Vec<f64>> = (0..7)
        .map(|r| {
            (0..7)
                .map(|s| ((rows[r][0] - rows[s][0]).powi(2) + (rows[r][1] - rows[s][1]).powi(2)).sqrt())
                .collect()
        })
        .collect();
    let of = |kind: RelationKind, data: RelationData| AtomSetting {
        weight: Some(30.0),
        ..AtomSetting::new("known", kind, data)
    };
    let table = |rows: &[Vec<f64>]| RelationData::Rows { tasks: texts(&all), rows: rows.to_vec() };
    let relations = vec![
        of(
            RelationKind::Groups,
            RelationData::Labels { tasks: texts(&all), labels: texts(&["n", "s", "n", "s", "n", "s", "n"]) },
        ),
        of(RelationKind::Tree, RelationData::Labels { tasks: texts(&all), labels: texts(&paths) }),
        of(
            RelationKind::Graph,
            RelationData::Pairs {
                from: texts(&["a", "c", "b", "d", "e"]),
                to: texts(&["c", "e", "d", "f", "new"]),
                values: vec![1.0, 2.0, 1.0, 1.0, 3.0],
            },
        ),
        of(RelationKind::Distance, table(&square)),
        of(RelationKind::Features, table(&rows)),
        AtomSetting { kernel: TaskKernel::Linear, ..of(RelationKind::Features, table(&rows)) },
    ];
    let (inputs, _) = data(&NAMES, 0);
    for atom in relations {
        let trained = fitted(vec![atom.clone()], &NAMES, 0);
        let model = &trained.model;
        let new = trained.new_tasks(&[]).unwrap();
        // A task of the model is found, and is itself but for the free part.
        assert!(new.find("elsewhere").unwrap().is_none(), "{}", atom.kind);
        let task = new.find("new").unwrap().unwrap_or_else(|| panic!("{}", atom.kind));
        let predicted = model.predict_borrowed(&inputs, &task).unwrap();
        // By hand, from the definition: F(x, new) = sum_s Theta_new,s (V'x)_s with V = W Theta^-1.
        let bigger = ResolvedAtoms::new(std::slice::from_ref(&atom), &tasks(&all), &ColumnRoles::default())
            .unwrap()
            .atoms[0]
            .clone();
        let own = ResolvedAtoms::new(std::slice::from_ref(&atom), &tasks(&NAMES), &ColumnRoles::default())
            .unwrap()
            .atoms[0]
            .clone();
        let (s, s_own) = (bigger.build_for(7).unwrap().matrix(), own.build_for(6).unwrap().matrix());
        let known = model.atoms()[0].coefficient;
        assert!(known > 0.0, "{}", atom.kind);
        if matches!(atom.kind, RelationKind::Groups | RelationKind::Tree | RelationKind::Graph) {
            // S with the new task is the same matrix up to its norm.
            let ratio = s_own[(0, 2)] / s[(0, 2)];
            let theta: Vec<f64> = (0..6).map(|t| known * ratio * s[(6, t)]).collect();
            let by_hand = model.predict_borrowed(&inputs, &model.borrowed_task(&theta).unwrap()).unwrap();
            for (a, b) in predicted.iter().zip(&by_hand) {
                assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{}: {a} {b}", atom.kind);
            }
        }
        // Related to a, c, e: their slopes are closer to its own than those of b, d, f. Constants do not count.
        let everything = model.predict_all(&inputs).unwrap();
        let centred = |values: Vec<f64>| -> Vec<f64> {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            values.iter().map(|x| x - mean).collect()
        };
        let own = centred(predicted);
        let off = |group: [usize; 3]| -> f64 {
            let mean = |i: usize| group.iter().map(|&t| everything[(i, t)]).sum::<f64>() / 3.0;
            let others = centred((0..own.len()).map(mean).collect());
            own.iter().zip(&others).map(|(a, b)| (a - b).powi(2)).sum()
        };
        assert!(off([0, 2, 4]) < off([1, 3, 5]), "{}", atom.kind);
    }
}

#[test]
fn a_task_that_is_told_of_later_is_predicted_like_one_that_was_known() {
    let all = ["a", "b", "c", "d", "e", "f", "new"];
    let labels = ["n", "s", "n", "s", "n", "s", "s"];
    let (inputs, _) = data(&NAMES, 0);
    let predict = |trained: &Trained, more: &[AtomSetting]| {
        let task = trained.new_tasks(more).unwrap().find("new").unwrap().unwrap();
        trained.model.predict_borrowed(&inputs, &task).unwrap()
    };
    let known = fitted(vec![region(&all, &labels)], &NAMES, 0);
    let later = fitted(vec![region(&NAMES, &LABELS)], &NAMES, 0);
    assert!(later.new_tasks(&[]).unwrap().find("new").unwrap().is_none());
    assert_eq!(predict(&known, &[]), predict(&later, &[region(&["new"], &["s"])]));
    let rows = |n: usize| -> RelationData {
        let rows = (0..n).map(|t| vec![(t % 2) as f64 + 0.05 * t as f64]).collect();
        RelationData::Rows { tasks: texts(&all[..n]), rows }
    };
    let features = |n: usize| AtomSetting::new("place", RelationKind::Features, rows(n));
    let (known, later) = (fitted(vec![features(7)], &NAMES, 0), fitted(vec![features(6)], &NAMES, 0));
    assert_eq!(predict(&known, &[]), predict(&later, &[features(7)]));
    let edges = |values: &[(&str, &str, f64)]| {
        let data = RelationData::Pairs {
            from: values.iter().map(|edge| edge.0.to_string()).collect(),
            to: values.iter().map(|edge| edge.1.to_string()).collect(),
            values: values.iter().map(|edge| edge.2).collect(),
        };
        AtomSetting::new("roads", RelationKind::Graph, data)
    };
    let graph = fitted(vec![edges(&[("a", "c", 1.0), ("b", "d", 2.0)])], &NAMES, 0);
    assert_eq!(predict(&graph, &[edges(&[("new", "a", 1.0)])]).len(), 72);
    let error = graph.new_tasks(&[region(&["new"], &["s"])]).unwrap_err().to_string();
    assert_eq!(
        error,
        "the model was fitted without an atom \"region\"; its atoms are roads; ,name=NAME names one"
    );
}

#[test]
fn an_empty_task_of_the_model_borrows_from_its_group_in_its_units() {
    let names = ["a", "b", "c", "d", "e", "f", "empty"];
    let labels = ["n", "s", "n", "s", "n", "s", "s"];
    let trained = fitted(vec![AtomSetting { weight: Some(1e4), ..region(&names, &labels) }], &names, 1);
    assert_eq!(trained.spec.intercept(), Intercept::Free);
    let (inputs, _) = data(&names, 1);
    let task = trained.model.borrowed_empty_task(6).unwrap().unwrap();
    assert_eq!(Some(&task), trained.new_tasks(&[]).unwrap().find("empty").unwrap().as_ref());
    let predicted = trained.model.predict_borrowed(&inputs, &task).unwrap();
    // With all of Theta in the relation, tasks of a group share a function; constants are means of the group.
    let all = trained.model.predict_all(&inputs).unwrap();
    for (i, p) in predicted.iter().enumerate() {
        let mean = (all[(i, 1)] + all[(i, 3)] + all[(i, 5)]) / 3.0;
        assert!((p - mean).abs() < 0.2 * (1.0 + mean.abs()), "{p} {mean}");
    }
}

fn setting() -> impl Strategy<Value = AtomSetting> {
    let names = || proptest::collection::btree_set("[a-z][a-z/ \"é]{0,5}", 1..4);
    let labels = names().prop_map(|tasks| {
        let labels = tasks.iter().map(|task| format!("g {task}")).collect();
        (RelationKind::Tree, RelationData::Labels { tasks: tasks.into_iter().collect(), labels })
    });
    let pairs = (names(), 0.0..1e9f64).prop_map(|(tasks, value)| {
        let from: Vec<String> = tasks.into_iter().collect();
        let (to, values) = (vec!["other".to_string(); from.len()], vec![value; from.len()]);
        (RelationKind::Graph, RelationData::Pairs { from, to, values })
    });
    let rows = (names(), -1e9..1e9f64).prop_map(|(tasks, value)| {
        let rows = vec![vec![value, 0.1 * value]; tasks.len()];
        (RelationKind::Features, RelationData::Rows { tasks: tasks.into_iter().collect(), rows })
    });
    let linear = any::<bool>();
    (prop_oneof![labels, pairs, rows], proptest::option::of(0.0..1e300f64), any::<bool>(), linear).prop_map(
        |((kind, data), weight, in_file, linear)| AtomSetting {
            weight,
            file: in_file.then(|| PathBuf::from("a b/c,d.csv")),
            kernel: match linear && kind == RelationKind::Features {
                true => TaskKernel::Linear,
                false => TaskKernel::Rbf,
            },
            ..AtomSetting::new("known", kind, data)
        },
    )
}

proptest! {
    #[test]
    fn settings_are_read_back_from_toml_json_and_text(atom in setting()) {
        let spec = FitSpec { atoms: vec![atom.clone()], method: "fmtl".parse().unwrap(), ..FitSpec::default() };
        prop_assert_eq!(&FitSpec::from_toml(&spec.to_toml().unwrap()).unwrap(), &spec);
        prop_assert_eq!(&FitSpec::from_json(&serde_json::to_string(&spec).unwrap()).unwrap(), &spec);
        if atom.file.is_some() {
            let without = AtomSetting { data: None, ..atom };
            prop_assert_eq!(without.to_string().parse::<AtomSetting>().unwrap(), without);
        }
    }
}
