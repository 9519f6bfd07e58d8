//! The numpy recipe of `docs/recheck.md` is run as printed and must agree with the certificate.

#[path = "../../../../tests/needs.rs"]
mod needs;

use kinfolk::inputs::{Dense, Inputs};
use kinfolk::regularizer::{AtomKind, AtomSpec};
use kinfolk::{
    Certificate, Dataset, DatasetOptions, Intercept, LossKind, Observations, Problem, ProblemSpec,
    RegularizerKind, Settings, fit,
};
use std::path::Path;
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn numpy_finds_the_same_certificate() {
    let Some(python) = needs::python("numpy_finds_the_same_certificate", "numpy, safetensors") else {
        return;
    };
    let page = std::fs::read_to_string(format!("{ROOT}/docs/recheck.md")).unwrap();
    let (_, code) = page.split_once("```python\n").expect("a block of python");
    let (code, rest) = code.split_once("```").expect("the end of the block");
    let (_, atoms) = rest.split_once("```python\n").expect("a block for atoms");
    let (atoms, rest) = atoms.split_once("```").expect("the end of the block");
    let (_, logistic) = rest.split_once("```python\n").expect("a block for the logistic loss");
    let (logistic, _) = logistic.split_once("```").expect("the end of the block");
    let with = |more: &str| code.replacen("assert", &format!("{more}\nassert"), 1);
    let (with_atoms, with_logistic) =
        (with(atoms), with(logistic).replace("np.allclose(Z.sum(axis=0), 0)", "np.allclose(sums[~one], 0)"));
    let hinge = [(1, 0.0), (2, 0.0), (3, 0.0), (1, 2.0), (3, 0.5)].map(|case| (case, LossKind::Hinge));
    for ((k, weight), loss) in hinge.into_iter().chain([((2, 0.0), LossKind::Logistic)]) {
        let directory = tempfile::tempdir().unwrap();
        let code = match (&loss, weight > 0.0) {
            (LossKind::Logistic, _) => &with_logistic,
            (_, true) => &with_atoms,
            (_, false) => code,
        };
        let certificate = fit_and_save(k, weight, loss, directory.path());
        let run = Command::new(&python).arg("-c").arg(code).current_dir(directory.path()).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let printed = String::from_utf8(run.stdout).unwrap();
        let value = |name: &str| -> f64 {
            let line = printed.lines().find(|line| line.split(' ').next() == Some(name));
            line.unwrap_or_else(|| panic!("no {name} in {printed}"))
                .split_once(' ')
                .unwrap()
                .1
                .parse()
                .unwrap()
        };
        for (name, expected) in
            [("primal", certificate.primal), ("dual", certificate.dual), ("gap", certificate.gap)]
        {
            let got = value(name);
            assert!((got - expected).abs() <= 1e-9 * expected.abs(), "k = {k}: {name} {got}, not {expected}");
        }
    }
}

/// Four kindred tasks in five dimensions, stopped early so that there is a gap to compare. With the logistic loss one
/// of them has one class.
fn fit_and_save(k: u32, weight: f64, loss: LossKind, directory: &Path) -> Certificate {
    const N: usize = 60;
    const D: usize = 5;
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let x: Vec<f64> = (0..N * D).map(|_| next()).collect();
    let task: Vec<u32> = (0..N as u32).map(|i| i % 4).collect();
    let label = |i: usize, noise: f64| {
        let row = &x[i * D..(i + 1) * D];
        let one_class = loss == LossKind::Logistic && task[i] == 2;
        if one_class {
            1.0
        } else {
            (row[0] - row[1] + 0.3 * f64::from(task[i]) * row[2] + 0.2 * noise).signum()
        }
    };
    let y: Vec<f64> = (0..N).map(|i| label(i, next())).collect();
    let inputs = Inputs::from(Dense::f64(&x, N, D).unwrap());
    let observations = Observations::multi_task(&task, y.clone()).unwrap();
    let data = Dataset::new(&inputs, &observations, DatasetOptions::default()).unwrap();
    let likeness = |r: i32, s: i32| 0.5f64.powi((r - s).abs());
    let rows = (0..4).map(|r| (0..4).map(|s| likeness(r, s)).collect()).collect();
    let atoms = [
        ("common", AtomKind::Common),
        ("own", AtomKind::Own),
        ("pairs", AtomKind::Groups { groups: vec![3, 3, 1, 1] }),
        ("likeness", AtomKind::Matrix { rows }),
    ]
    .map(|(name, kind)| AtomSpec::new(name, weight, kind))
    .to_vec();
    let spec = ProblemSpec {
        loss: loss.clone().into(),
        output: RegularizerKind::Power { k },
        c: 0.8,
        lambda: 1.7,
        atoms,
        intercept: Intercept::Free,
    };
    let problem = Problem::new(&data, spec).unwrap();
    let fit = fit(&problem, &Settings { tolerance: 1e-2, ..Settings::default() }).unwrap();
    assert!(fit.certificate().rel_gap() > 1e-6, "a gap that a difference can show");
    fit.model.save(directory.join("model.safetensors")).unwrap();
    let doubles = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    npy(&directory.join("x.npy"), "<f8", "(60, 5)", &doubles(&x));
    npy(&directory.join("y.npy"), "<f8", "(60,)", &doubles(&y));
    let tasks: Vec<u8> = task.iter().flat_map(|t| t.to_le_bytes()).collect();
    npy(&directory.join("task.npy"), "<u4", "(60,)", &tasks);
    fit.certificate().clone()
}

/// An array in numpy's own format, version 1.0.
fn npy(path: &Path, dtype: &str, shape: &str, data: &[u8]) {
    let mut header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}");
    // Magic string, version, length and header take a multiple of 64 bytes.
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    let bytes = [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat();
    std::fs::write(path, bytes).unwrap();
}
