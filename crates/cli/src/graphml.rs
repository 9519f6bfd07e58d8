//! A task matrix as a graph in GraphML, which Gephi, Cytoscape, networkx and igraph read.

use kinfolk::Matrix;
use kinfolk_report::escape;
use std::fmt::Write;

/// Tasks are nodes with their name and their diagonal entry of Theta. Pairs with a nonzero entry or correlation, and an
/// absolute correlation of at least `threshold`, are edges.
pub(crate) fn graphml(names: &[String], theta: &Matrix, correlation: &Matrix, threshold: f64) -> String {
    let mut xml = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
         <key id=\"name\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n\
         <key id=\"own\" for=\"node\" attr.name=\"theta\" attr.type=\"double\"/>\n\
         <key id=\"theta\" for=\"edge\" attr.name=\"theta\" attr.type=\"double\"/>\n\
         <key id=\"weight\" for=\"edge\" attr.name=\"weight\" attr.type=\"double\"/>\n\
         <key id=\"correlation\" for=\"edge\" attr.name=\"correlation\" attr.type=\"double\"/>\n\
         <graph id=\"tasks\" edgedefault=\"undirected\">\n",
    );
    for (r, name) in names.iter().enumerate() {
        let _ = writeln!(
            xml,
            "<node id=\"n{r}\"><data key=\"name\">{}</data><data key=\"own\">{}</data></node>",
            escape(name),
            theta[(r, r)]
        );
    }
    for r in 0..names.len() {
        for s in r + 1..names.len() {
            let (t, c) = (theta[(r, s)], correlation[(r, s)]);
            if (t == 0.0 && c == 0.0) || c.abs() < threshold {
                continue;
            }
            let _ = writeln!(
                xml,
                "<edge source=\"n{r}\" target=\"n{s}\"><data key=\"theta\">{t}</data><data key=\"weight\">{}</data>\
                 <data key=\"correlation\">{c}</data></edge>",
                c.abs()
            );
        }
    }
    xml.push_str("</graph>\n</graphml>\n");
    xml
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_without_a_relation_have_no_edge() {
        let theta = Matrix::from_vec(vec![4.0, 1.0, 0.0, 1.0, 1.0, -0.1, 0.0, -0.1, 1.0], 3, 3).unwrap();
        let correlation =
            Matrix::from_vec(vec![1.0, 0.5, 0.0, 0.5, 1.0, -0.1, 0.0, -0.1, 1.0], 3, 3).unwrap();
        let names = ["a".to_string(), "b & c".to_string(), "d".to_string()];
        let all = graphml(&names, &theta, &correlation, 0.0);
        assert_eq!(all.matches("<edge").count(), 2);
        assert!(all.contains("b &amp; c"));
        assert!(all.contains("<data key=\"weight\">0.1</data>"), "weights are positive, for layouts");
        assert_eq!(graphml(&names, &theta, &correlation, 0.2).matches("<edge").count(), 1);
    }
}
