//! A spec means the same however it is written: every text is read back, and so are JSON, TOML and model files.

use kinfolk::inputs::{Dense, Inputs};
use kinfolk::kernel::Gamma;
use kinfolk::{Kernel, LossKind, Observations, ScalingKind, Silent, SolverKind, Start, Status, TargetScale};
use kinfolk_io::ColumnRoles;
use kinfolk_train::{
    Allowed, ClassWeight, Data, FitSpec, LossSpec, Memory, MethodSpec, Trained, Weight, registry, train,
};
use proptest::prelude::*;
use proptest::sample::select;

fn positive() -> impl Strategy<Value = f64> {
    (-300.0..300.0f64).prop_map(|exponent| 10f64.powf(exponent))
}

fn name() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9_ =,\"]{0,8}"
}

fn kernel() -> impl Strategy<Value = Kernel> {
    let gamma = || prop_oneof![Just(Gamma::Scale), Just(Gamma::Auto), positive().prop_map(Gamma::Value)];
    prop_oneof![
        Just(Kernel::Linear),
        Just(Kernel::Cosine),
        Just(Kernel::Precomputed),
        gamma().prop_map(|gamma| Kernel::Rbf { gamma }),
        gamma().prop_map(|gamma| Kernel::Laplacian { gamma }),
        (1..9u32, gamma(), positive()).prop_map(|(degree, gamma, coef0)| Kernel::Polynomial {
            degree,
            gamma,
            coef0
        }),
    ]
}

fn loss_kind() -> impl Strategy<Value = LossKind> {
    let with_number = (0.01..0.99f64).prop_map(|q| LossKind::Quantile { q });
    prop_oneof![select(LossKind::all_examples()), with_number]
}

fn loss() -> impl Strategy<Value = LossSpec> {
    prop_oneof![
        Just(LossSpec::Auto),
        loss_kind().prop_map(LossSpec::Same),
        proptest::collection::vec(loss_kind(), 1..4).prop_map(LossSpec::PerTask),
    ]
}

/// A value that a parameter may have.
fn value(allowed: Allowed) -> BoxedStrategy<String> {
    let matrix = || proptest::collection::vec(proptest::collection::vec(positive(), 2), 2);
    match allowed {
        Allowed::Integer(low, high) => (low..=high).prop_map(|n| n.to_string()).boxed(),
        Allowed::Number(low, high) => (low..=high).prop_map(|x| x.to_string()).boxed(),
        Allowed::NumberOrAuto(low, high, _) => {
            prop_oneof![Just("auto".to_string()), (low..=high).prop_map(|x| x.to_string())].boxed()
        }
        Allowed::Word(words) => select(words).prop_map(str::to_string).boxed(),
        Allowed::Numbers => {
            proptest::collection::vec(positive(), 1..5).prop_map(|list| format!("{list:?}")).boxed()
        }
        Allowed::TaskMatrix => {
            prop_oneof![matrix().prop_map(|rows| format!("{rows:?}")), Just("theta.csv".to_string())].boxed()
        }
    }
}

/// Methods with any allowed value of one of their parameters.
fn method() -> impl Strategy<Value = MethodSpec> {
    let settings: Vec<_> = registry()
        .iter()
        .flat_map(|method| method.params().iter().map(move |param| (method.name(), param)))
        .collect();
    let one = select(settings).prop_flat_map(|(method, param)| {
        // Some values of `output` need another parameter.
        value(param.allowed).prop_filter_map("a parameter is missing", move |value| {
            let mut given: Vec<(&str, &str)> = param.only_with.into_iter().collect();
            given.push((param.name, &value));
            match MethodSpec::new(method, &given) {
                Err(error) if error.to_string().contains(" needs ") => None,
                spec => Some(spec.unwrap()),
            }
        })
    });
    let plain = select(registry()).prop_map(|method| MethodSpec::new(method.name(), &[]).unwrap());
    prop_oneof![one, plain]
}

fn weight() -> impl Strategy<Value = Weight> {
    prop_oneof![Just(Weight::Auto), positive().prop_map(Weight::C), positive().prop_map(Weight::Relative)]
}

fn columns() -> impl Strategy<Value = ColumnRoles> {
    (
        proptest::option::of(name()),
        proptest::collection::vec(name(), 0..3),
        proptest::option::of(proptest::collection::vec(name(), 0..3)),
        proptest::option::of(name()),
        any::<bool>(),
    )
        .prop_map(|(task, target, features, weight, classes)| ColumnRoles {
            task,
            target,
            features,
            weight,
            classes,
            ..ColumnRoles::default()
        })
}

fn spec() -> impl Strategy<Value = FitSpec> {
    let problem = (method(), loss(), weight(), proptest::option::of(positive()), any::<bool>());
    let inputs = (proptest::option::of(kernel()), positive(), select(&ScalingKind::ALL[..]), columns());
    let targets = select(&TargetScale::ALL[..]);
    let solver = (
        select(&SolverKind::ALL[..]),
        positive(),
        0..usize::MAX / 2,
        proptest::option::of(positive()),
        1..1_000_000_000_000_000_000u64,
        0..100usize,
        0..i64::MAX as u64,
    );
    (problem, inputs, solver, proptest::option::of(any::<i64>()), targets).prop_map(
        |(
            (method, loss, c, lambda, balanced),
            (kernel, bias, scale, columns),
            solver,
            split,
            target_scale,
        )| {
            let (solver, tol, max_passes, max_seconds, memory, threads, seed) = solver;
            FitSpec {
                method,
                loss,
                c,
                lambda,
                class_weight: balanced.then_some(ClassWeight::Balanced),
                kernel,
                bias,
                scale,
                target_scale,
                columns,
                split,
                solver,
                tol,
                max_passes,
                max_seconds,
                memory: Memory(memory),
                threads,
                seed,
                ..FitSpec::default()
            }
        },
    )
}

proptest! {
    #[test]
    fn every_text_is_read_back(
        kernel in kernel(), loss in loss(), method in method(), weight in weight(),
        solver in select(&SolverKind::ALL[..]), scale in select(&ScalingKind::ALL[..]),
        bytes in 1..1_000_000_000_000_000_000u64,
    ) {
        prop_assert_eq!(kernel.to_string().parse::<Kernel>().unwrap(), kernel);
        prop_assert_eq!(loss.to_string().parse::<LossSpec>().unwrap(), loss);
        prop_assert_eq!(method.to_string().parse::<MethodSpec>().unwrap(), method.clone());
        prop_assert_eq!(weight.to_string().parse::<Weight>().unwrap(), weight);
        prop_assert_eq!(solver.to_string().parse::<SolverKind>().unwrap(), solver);
        prop_assert_eq!(scale.to_string().parse::<ScalingKind>().unwrap(), scale);
        prop_assert_eq!(Memory(bytes).to_string().parse::<Memory>().unwrap(), Memory(bytes));
        // In a list of methods too.
        let list = format!("stl,{method},mtl:mu=2");
        prop_assert_eq!(kinfolk_train::method_texts(&list), ["stl", &method.to_string(), "mtl:mu=2"]);
    }

    #[test]
    fn json_and_toml_are_read_back(spec in spec()) {
        let json = serde_json::to_string(&spec).unwrap();
        prop_assert_eq!(&FitSpec::from_json(&json).unwrap(), &spec, "{}", json);
        let toml = spec.to_toml().unwrap();
        prop_assert_eq!(&FitSpec::from_toml(&toml).unwrap(), &spec, "{}", toml);
    }
}

#[test]
fn mistakes_in_a_spec_are_named() {
    let why = |text: &str| FitSpec::from_toml(text).unwrap_err().to_string();
    assert!(why("metod = \"stl\"").contains("unknown field `metod`"));
    assert!(why("method = \"stl:mu=1\"").contains("method stl: there is no parameter \"mu\"; it has none"));
    assert!(why("c = -1").contains("it must be auto or a positive number"));
    assert!(why("loss = \"hing\"").contains("hing"));
    assert_eq!(why("tol = 0.0"), "tol = 0: it must be a positive number");
    assert_eq!(why("schema_version = 99"), "schema_version = 99: this version reads up to 4");
}

/// Defaults have changed since; a spec that was printed then means the same fit.
#[test]
fn a_spec_of_an_earlier_version_keeps_its_defaults() {
    for old in [
        FitSpec::from_toml("schema_version = 2\nc = 2.0").unwrap(),
        FitSpec::from_json(r#"{"schema_version": 1, "c": 2.0}"#).unwrap(),
    ] {
        assert_eq!((old.scale, old.target_scale), (ScalingKind::None, TargetScale::None));
        assert_eq!(old, FitSpec::from_toml(&old.to_toml().unwrap()).unwrap());
    }
    // The method was fmtl, if none was named.
    for version in 1..4 {
        let text = format!("schema_version = {version}\nc = 2.0");
        assert_eq!(FitSpec::from_toml(&text).unwrap().method.to_string(), "fmtl:k=1,output=power");
    }
    assert_eq!(FitSpec::from_toml("c = 2.0").unwrap().method.name(), "kin");
    let given =
        FitSpec::from_toml("schema_version = 2\nscale = \"unit\"\ntarget_scale = \"common\"").unwrap();
    assert_eq!((given.scale, given.target_scale), (ScalingKind::Unit, TargetScale::Common));
}

/// Twelve rows of two tasks.
fn toy() -> (Inputs<'static>, Observations) {
    let x: Vec<f64> = (0..24).map(|i| f64::from(i * 7 % 11) - 5.0).collect();
    let y: Vec<f64> = (0..12).map(|i| x[2 * i] - 0.5 * x[2 * i + 1] + (i as f64).cos()).collect();
    let task: Vec<u32> = (0..12).map(|i| i % 2).collect();
    (Dense::f64_owned(x, 12, 2).unwrap().into(), Observations::multi_task(&task, y).unwrap())
}

#[test]
fn a_trained_model_is_read_back_with_its_spec() {
    let (inputs, observations) = toy();
    for method in ["fmtl:k=2", "fmtl:output=series,coefficients=[0.1,0.5,0,0.25]", "stl", "gmtl", "mtfl"] {
        let spec = FitSpec { method: method.parse().unwrap(), threads: 1, ..FitSpec::default() };
        let data = Data::Arrays(&inputs, &observations);
        let trained = train(&spec, data, Start::Cold, &mut Silent).unwrap();
        assert_eq!(trained.model.status(), Some(Status::Certified), "{method}");
        let model = kinfolk::Model::from_bytes(&trained.to_bytes().unwrap()).unwrap();
        let back = Trained::from_model(model).unwrap();
        assert_eq!((&back.spec, &back.schema), (&trained.spec, &trained.schema), "{method}");
        assert_eq!((&back.spec, &back.outcome), (&spec, &trained.outcome), "{method}");
        // The spec that was stored gives the same model again.
        let data = Data::Arrays(&inputs, &observations);
        let again = train(&trained.spec, data, Start::Cold, &mut Silent).unwrap();
        assert_eq!(again.to_bytes().unwrap(), trained.to_bytes().unwrap(), "{method}");
    }
}

#[test]
fn models_of_0_1_0_are_read() {
    let (inputs, observations) = toy();
    let spec = FitSpec { threads: 1, c: Weight::C(2.0), ..FitSpec::default() };
    let trained = train(&spec, Data::Arrays(&inputs, &observations), Start::Cold, &mut Silent).unwrap();
    let mut model = trained.model.clone();
    model.attach("recipe", &serde_json::to_string(&trained.schema).unwrap()).unwrap();
    let command = r#"{"method":"mtrl:form=fast, l1=1","loss":"squared","output":"power","k":1,"c":2.0,"c_rule":"given",
        "lambda":1.0,"kernel":{"kind":"linear"},"scale":"none","bias":1.0,"class_weight":"balanced","split":3,
        "solver":"newton","tol":0.01,"max_passes":7,"max_seconds":null,"memory":4000000000,"seed":5,"threads":1}"#;
    model.attach("fit", command).unwrap();
    let read = Trained::from_model(model.clone()).unwrap();
    let FitSpec { method, c, split, tol, max_passes, seed, class_weight, solver, .. } = read.spec;
    assert_eq!((method.to_string().as_str(), c, split), ("mtrl:l1=1", Weight::C(2.0), Some(3)));
    assert_eq!((tol, max_passes, seed, solver), (0.01, 7, 5, SolverKind::Newton));
    assert_eq!(class_weight, Some(ClassWeight::Balanced));
    // The Python package wrote less: the rest comes from the model.
    model.attach("fit", r#"{"tol":0.5,"split":null,"class_weight":null,"written_by":"python"}"#).unwrap();
    let read = Trained::from_model(model).unwrap();
    assert_eq!((read.spec.method.to_string().as_str(), read.spec.tol), ("fmtl:k=1,output=power", 0.5));
    assert_eq!(read.spec.c, Weight::C(2.0));
}
