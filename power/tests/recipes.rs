//! Recipes say what the catalogue writes, on machines of several kinds.

mod common;

use common::tree;
use power::control::{Hints, controls};
use power::recipe::{NoRecipe, Recipe};

/// Kinds of knobs whose values the catalogue works out from the drive at hand.
const WORKED_OUT: [&str; 2] = ["sata.ncq", "block.wbt"];

#[test]
fn every_value_has_a_recipe_or_a_reason_and_both_write_the_same() {
    let mut compared = 0;
    for text in [include_str!("trees/laptop.txt"), include_str!("trees/server.txt"), include_str!("trees/cloud.txt")] {
        let (_dir, root) = tree(text);
        for control in controls(&root, &Hints::default()) {
            for choice in &control.choices {
                let recipe = Recipe::of(&control.id, &choice.value, &control.source);
                assert!(!matches!(recipe, Err(NoRecipe::Unknown | NoRecipe::Value)), "{} {choice:?}", control.id);
                let Ok(Recipe::Write { path, value }) = recipe else { continue };
                for write in &choice.writes {
                    compared += 1;
                    assert_eq!(write.site.pattern().as_ref(), Some(&path), "{}", control.id);
                    let worked_out = WORKED_OUT.iter().any(|kind| control.id.starts_with(kind));
                    assert!(worked_out || write.value == value, "{}: {} and {value}", control.id, write.value);
                }
            }
        }
    }
    assert!(compared > 100, "only {compared} writes were compared");
}
