//! The people of this host.

use std::collections::BTreeSet;

/// User ids of people begin here (`UID_MIN` of `login.defs(5)`).
const FIRST: u32 = 1000;

/// Names of the users of this host that are people, as far as `/etc/passwd` knows them.
pub(super) fn of_this_host() -> BTreeSet<String> {
    people(&std::fs::read_to_string("/etc/passwd").unwrap_or_default())
}

fn people(passwd: &str) -> BTreeSet<String> {
    let person = |line: &str| {
        let mut fields = line.split(':');
        let (name, id) = (fields.next()?, fields.nth(1)?.parse::<u32>().ok()?);
        (id >= FIRST && !name.is_empty()).then(|| name.to_owned())
    };
    passwd.lines().filter_map(person).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn people_are_told_from_services() {
        let passwd =
            "root:x:0:0::/root:/bin/sh\ndaemon:x:1:1::/:/x\nalice:x:1000:1000:A:/home/alice:/bin/sh\ndamaged\n";
        assert_eq!(super::people(passwd), ["alice".to_owned()].into());
    }
}
