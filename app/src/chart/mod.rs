//! The live curve: what to draw ([`Curve`], plain data), how ([`paint`]), and the element around it ([`Chart`]).

mod curve;
mod paint;
mod scale;
mod table;
mod view;

pub(crate) use view::Chart;
