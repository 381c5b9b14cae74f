//! Where the listener for viewers is.

use protocol::DEFAULT_LAN_PORT;
use protocol::error::{ErrorBody, ErrorCode};
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::str::FromStr;

/// An address of this host with a port: `192.168.1.5`, `192.168.1.5:8080`, `[fe80::1]:8080`, `0.0.0.0` for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address(SocketAddr);

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(address) = text.parse() {
            return Ok(Self(address));
        }
        let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
        let ip: IpAddr = bare.parse().map_err(|_| {
            format!("{} is not an address, as 192.168.1.5, 192.168.1.5:8080 or [fe80::1]:8080 are", text.escape_debug())
        })?;
        Ok(Self((ip, DEFAULT_LAN_PORT).into()))
    }
}

impl Address {
    /// The same with this port, where it leaves the port open.
    pub(super) fn or_port(self, port: u16) -> Self {
        Self(if self.0.port() == 0 { SocketAddr::new(self.0.ip(), port) } else { self.0 })
    }

    /// A listener there, and its address with the port that it got.
    pub(super) fn listen(self) -> Result<(TcpListener, SocketAddr), ErrorBody> {
        let listen = || {
            let listener = TcpListener::bind(self.0)?;
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        };
        listen().map_err(|e| self.refused(&e))
    }

    /// The address by which others reach this host, as far as one can be named.
    pub(super) fn shown(self) -> Option<IpAddr> {
        let ip = self.0.ip();
        if ip.is_unspecified() { outgoing(ip.is_ipv6()) } else { Some(ip) }
    }

    fn refused(self, e: &std::io::Error) -> ErrorBody {
        let (ip, port) = (self.0.ip(), self.0.port());
        match e.kind() {
            ErrorKind::AddrNotAvailable => {
                ErrorBody::new(ErrorCode::Usage, format!("This host does not have the address {ip}."))
                    .hint("Name one that `ip address` shows with --lan; 0.0.0.0 stands for all of them.")
            }
            ErrorKind::AddrInUse => {
                ErrorBody::new(ErrorCode::Usage, format!("Port {port} of {ip} is in use by another program."))
                    .hint("Choose another one with --lan ADDRESS:PORT.")
            }
            ErrorKind::PermissionDenied => {
                ErrorBody::new(ErrorCode::NotPermitted, format!("Port {port} of {ip} may not be used: {e}."))
                    .hint("Choose one from 1024 up with --lan ADDRESS:PORT.")
            }
            _ => ErrorBody::new(ErrorCode::Usage, format!("{ip} cannot be used for viewers: {e}."))
                .hint("Name another address with --lan."),
        }
    }
}

/// What to open in a browser.
pub(super) fn url(scheme: &str, address: SocketAddr, hostname: Option<&str>) -> String {
    let port = address.port();
    match Address(address).shown() {
        Some(ip) => format!("{scheme}://{}/", SocketAddr::new(ip, port)),
        None => format!("{scheme}://{}:{port}/", hostname.unwrap_or("localhost")),
    }
}

/// What it means to listen on all addresses.
pub(super) fn note(address: SocketAddr) -> Option<String> {
    address.ip().is_unspecified().then(|| {
        format!("{} stands for every address of this host: whoever reaches one of them can watch.", address.ip())
    })
}

/// An address of this host at which others could reach it.
pub(super) fn candidate() -> Option<String> {
    outgoing(false).filter(|ip| !ip.is_loopback()).map(|ip| ip.to_string())
}

/// The address that this host uses towards other networks. A datagram socket is told where to send to, and nothing is
/// sent; the addresses are those of RFC 5737 and RFC 3849, which nobody has.
fn outgoing(v6: bool) -> Option<IpAddr> {
    let ask = |from: IpAddr, to: IpAddr| {
        let socket = UdpSocket::bind((from, 0)).ok()?;
        socket.connect((to, 9)).ok()?;
        Some(socket.local_addr().ok()?.ip())
    };
    let v4 = || ask(Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::new(192, 0, 2, 1).into());
    let only_v6 = || ask(Ipv6Addr::UNSPECIFIED.into(), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into());
    v4().or_else(|| if v6 { only_v6() } else { None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_as_people_write_them() {
        let cases = [
            ("192.168.1.5", "192.168.1.5:7412"),
            ("192.168.1.5:80", "192.168.1.5:80"),
            ("::1", "[::1]:7412"),
            ("[::1]", "[::1]:7412"),
            ("[fe80::1%2]:80", "[fe80::1%2]:80"),
        ];
        for (text, address) in cases {
            assert_eq!(text.parse::<Address>().unwrap().0.to_string(), address, "{text}");
        }
        for text in ["", "box.local", "192.168.1", "192.168.1.5:", "192.168.1.5:99999", ":7412", "7412"] {
            assert!(text.parse::<Address>().unwrap_err().contains("is not an address"), "{text}");
        }
    }

    #[test]
    fn an_address_of_another_host_and_a_port_in_use_are_told_apart() {
        let foreign: Address = "192.0.2.1".parse().unwrap();
        assert!(foreign.listen().unwrap_err().message.contains("does not have the address 192.0.2.1"));
        let (_taken, address) = "127.0.0.1:0".parse::<Address>().unwrap().listen().unwrap();
        let error = Address(address).listen().unwrap_err();
        assert!(error.message.contains("in use") && error.hint.unwrap().contains("--lan"), "{}", error.message);
    }

    #[test]
    fn all_addresses_are_shown_as_one_with_what_that_means() {
        let all: SocketAddr = "0.0.0.0:7412".parse().unwrap();
        assert!(
            !url("http", all, Some("box")).contains("0.0.0.0") && url("http", all, Some("box")).ends_with(":7412/")
        );
        assert!(note(all).unwrap().contains("every address"));
        let one: SocketAddr = "[::1]:7412".parse().unwrap();
        assert_eq!((url("http", one, None).as_str(), note(one)), ("http://[::1]:7412/", None));
    }
}
