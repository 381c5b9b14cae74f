//! Sets of CPUs as the kernel writes them: `0-3,8,10-11`.

/// Far above any machine; a longer range is damage, not a list.
const MAX_CPU: u32 = 1 << 16;

/// The CPUs of a list, ascending; `None` if it is not one. An empty list is the empty set.
pub fn parse(list: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for part in list.trim().split(',').filter(|p| !p.is_empty()) {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high): (u32, u32) = (low.parse().ok()?, high.parse().ok()?);
        if low > high || high > MAX_CPU {
            return None;
        }
        cpus.extend(low..=high);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn lists_are_read_as_the_kernel_writes_them() {
        assert_eq!(parse("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(parse(""), Some(vec![]));
        for bad in ["x", "3-1", "0-99999999", "-1", "1-"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
