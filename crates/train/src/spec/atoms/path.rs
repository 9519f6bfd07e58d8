//! Paths of trees as texts: names of nodes from the root on, with slashes between them. A slash inside a name has a
//! backslash before it, so that a tree that is given by parents may have any names.

/// The path through these nodes.
pub(super) fn joined(nodes: &[&str]) -> String {
    let escaped: Vec<String> = nodes.iter().map(|node| node.replace('/', "\\/")).collect();
    escaped.join("/")
}

/// The nodes of a path, without empty ones.
pub(super) fn nodes(path: &str) -> Vec<String> {
    let (mut nodes, mut node) = (vec![], String::new());
    for part in path.split('/') {
        match part.strip_suffix('\\') {
            Some(start) => {
                node += start;
                node.push('/');
            }
            None => {
                node += part;
                nodes.push(std::mem::take(&mut node));
            }
        }
    }
    nodes.push(node);
    nodes.into_iter().map(|node| node.trim().to_string()).filter(|node| !node.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_in_names_do_not_part_nodes() {
        for names in [&["a"][..], &["root", "a/b", "c"], &["/", "x"], &["n/a", "N/A"]] {
            assert_eq!(nodes(&joined(names)), names, "{}", joined(names));
        }
        assert_eq!(nodes("animal/ cat //tabby/"), ["animal", "cat", "tabby"]);
        assert_eq!(nodes("C:\\x/y"), ["C:\\x", "y"]);
    }
}
