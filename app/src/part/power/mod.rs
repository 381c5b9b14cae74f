//! The host's settings, one row each, and what the host does meanwhile.

mod banner;
mod control;
mod groups;
mod load;
mod profiles;
mod row;
mod terms;
mod trial;

pub(crate) use banner::Banner;
pub(crate) use groups::Groups;
pub(crate) use load::HostLoad;
pub(crate) use profiles::Profiles;
