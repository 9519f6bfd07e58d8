#![no_main]

use kinfolk::Model;
use kinfolk::inputs::{Dense, Inputs};

// Whatever loads can predict, and is written and loaded again to the same bytes.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let model = match Model::from_bytes(bytes) {
        Ok(model) => model,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let d = model.about().n_features;
    if d <= 4096 {
        let x: Vec<f64> = (0..2 * d).map(|i| (i % 3) as f64 - 1.0).collect();
        if let Ok(dense) = Dense::f64(&x, 2, d) {
            let _ = model.predict_all(&Inputs::from(dense));
        }
    }
    let _ = model.correlation();
    let written = model.to_bytes().expect("what was read can be written");
    let again = Model::from_bytes(&written).expect("what was written can be read");
    assert_eq!(again.to_bytes().expect("written before"), written);
});
