//! JSON as the server sends it, into the types of `protocol`.
//!
//! The derived `Deserialize` of these types would be a sixth of the page: it compiles, for each type, a table of its
//! fields, a message for each thing that can be wrong, and both orders in which it can come. Page and server are of one
//! version; what is wrong is told by its name alone. The tests hold this reader to the derived one.
//!
//! | file | what |
//! |---|---|
//! | `reader` | the trait, numbers, texts, lists, and the two macros with which a type is named |
//! | `run`, `host`, `power`, `experiment` | the types |

mod experiment;
mod host;
mod power;
mod reader;
mod run;

pub(crate) use reader::{Problem, Read, field, kept, text, value};
