//! Vectors as data: what a row accepts and what it refuses.

use postroom_webhook::Received;
use serde_json::Value;

use crate::vector::Vector;

/// Runs a vector; none when it agrees, else what differs.
fn differs(vector: &Vector) -> Option<String> {
    let received = vector.run();
    match (&received, vector.valid) {
        (Ok(_), false) => return Some(format!("{}: accepted", vector.id)),
        (Err(rejection), true) => {
            return Some(format!("{}: {rejection:?}", vector.id));
        }
        _ => {}
    }
    if let (Ok(Received::Handshake(handshake)), Some(response)) = (&received, &vector.response) {
        let body: Value = serde_json::from_slice(&handshake.answer.body).unwrap_or_default();
        if body != *response {
            return Some(format!("{}: answered {body}", vector.id));
        }
    } else if vector.valid && vector.response.is_some() {
        return Some(format!("{}: no handshake", vector.id));
    }
    None
}

/// Runs every vector of a file; those of bare algorithms belong to no provider.
fn check(text: &str) -> usize {
    let file: Value = serde_json::from_str(text).expect("JSON");
    let vectors: Vec<Vector> = file["vectors"]
        .as_array()
        .expect("vectors")
        .iter()
        .filter(|vector| vector["provider"] != "primitive")
        .map(Vector::read)
        .collect();
    let differences: Vec<String> = vectors.iter().filter_map(differs).collect();
    assert!(
        differences.is_empty(),
        "{} of {} differ:\n{}",
        differences.len(),
        vectors.len(),
        differences.join("\n")
    );
    vectors.len()
}

#[test]
fn every_vector_of_a_given_file_agrees() {
    let Ok(path) = std::env::var("POSTROOM_VECTORS") else {
        return;
    };
    let text = std::fs::read_to_string(&path).expect("the file that POSTROOM_VECTORS names");
    println!("{} vectors agree", check(&text));
}
