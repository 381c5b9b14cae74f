//! Whom a server started by root becomes.

use protocol::error::{ErrorBody, ErrorCode};
use std::path::Path;

/// An ordinary user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct User {
    pub(super) name: String,
    pub(super) uid: u32,
    pub(super) gid: u32,
}

/// Whom the operator named; else who called sudo; else `brakecheck`; else `nobody`.
pub(super) fn choose(named: Option<&str>) -> Result<User, ErrorBody> {
    let passwd = std::fs::read_to_string(Path::new("/etc/passwd")).unwrap_or_default();
    let variable = |name: &str| std::env::var(name).ok();
    pick(named, &passwd, variable)
}

fn pick(named: Option<&str>, passwd: &str, variable: impl Fn(&str) -> Option<String>) -> Result<User, ErrorBody> {
    let usage = |what: String| {
        ErrorBody::new(ErrorCode::Usage, what)
            .hint("Name an ordinary user of /etc/passwd with --user: the server faces the network as that user.")
    };
    if let Some(name) = named {
        let user = find(passwd, name).ok_or_else(|| usage(format!("There is no user {name}.")))?;
        return if user.uid == 0 { Err(usage(format!("{name} has root's rights."))) } else { Ok(user) };
    }
    let number = |name| variable(name).and_then(|text| text.parse::<u32>().ok()).filter(|&id| id != 0);
    if let (Some(uid), Some(gid)) = (number("SUDO_UID"), number("SUDO_GID")) {
        return Ok(User { name: variable("SUDO_USER").unwrap_or_else(|| uid.to_string()), uid, gid });
    }
    let ordinary = |name| find(passwd, name).filter(|user| user.uid != 0);
    ordinary("brakecheck").or_else(|| ordinary("nobody")).ok_or_else(|| {
        usage("There is no user whose rights the server could take: neither brakecheck nor nobody.".into())
    })
}

/// By its line in passwd(5).
fn find(passwd: &str, name: &str) -> Option<User> {
    let line = passwd.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let mut fields = line.split(':').skip(1);
    let uid = fields.next()?.parse().ok()?;
    let gid = fields.next()?.parse().ok()?;
    Some(User { name: name.to_owned(), uid, gid })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0::/root:/bin/sh\ntoor:x:0:0::/:/bin/sh\nnobody:x:65534:65533:nobody:/:/bin/false\n\
        brakecheck2:x:7:7::/:/\nanna:x:1000:1001::/home/anna:/bin/sh\n";

    fn picked(named: Option<&str>, sudo: Option<(&str, &str)>) -> Result<(u32, u32), String> {
        let variable = |name: &str| match (name, sudo) {
            ("SUDO_UID", Some((uid, _))) => Some(uid.to_owned()),
            ("SUDO_GID", Some((_, gid))) => Some(gid.to_owned()),
            _ => None,
        };
        pick(named, PASSWD, variable).map(|u| (u.uid, u.gid)).map_err(|e| e.message)
    }

    #[test]
    fn the_named_one_comes_first_then_who_called_sudo_then_nobody() {
        assert_eq!(picked(Some("anna"), Some(("7", "7"))), Ok((1000, 1001)));
        assert_eq!(picked(None, Some(("7", "8"))), Ok((7, 8)));
        assert_eq!(picked(None, None), Ok((65534, 65533)));
        assert_eq!(picked(None, Some(("0", "0"))), Ok((65534, 65533)), "sudo by root is no ordinary user");
        assert_eq!(picked(None, Some(("x", "1"))), Ok((65534, 65533)));
    }

    #[test]
    fn root_by_any_name_is_refused() {
        assert!(picked(Some("toor"), None).unwrap_err().contains("root's rights"));
        assert!(picked(Some("brakecheck"), None).unwrap_err().contains("no user brakecheck"));
        assert!(picked(Some(""), None).is_err());
    }
}
