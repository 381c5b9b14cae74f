//! The privileged process: it changes settings for a server that may not, and puts them back when that ends.
//!
//! The server and its broker talk over a socket pair; command lines come by a socket in the journal's directory. The
//! language ([`wire`]) knows no paths: whoever takes over the server can switch what the page can switch, and read
//! block devices, and nothing else. Whatever ends first, settings go back:
//!
//! | what ends | who puts back |
//! |---|---|
//! | server, or it hangs | broker: the socket closes, or the lease runs out |
//! | broker | sentinel: its pipe closes without a farewell |
//! | sentinel | broker starts another |
//! | all | next start, systemd's `ExecStopPost`, or `brakecheck restore`, from the journal |

mod act;
mod client;
mod connection;
mod device;
mod logind;
mod meters;
mod sentinel;
mod serve;
pub mod wire;

pub use client::{Client, Life};
pub use sentinel::{Sentinel, open_patiently, watch};
pub use serve::{BrokerError, Setup, serve, socket_name};
