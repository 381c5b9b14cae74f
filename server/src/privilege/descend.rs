//! Giving up root's rights, for good.

use super::user::User;
use protocol::error::{ErrorBody, ErrorCode};
use rustix::fs::{Gid, Uid};
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
use rustix::thread::{set_no_new_privs, set_thread_groups, set_thread_res_gid, set_thread_res_uid};

/// Makes this process that user's, with no way back, and proves it. The calls act on one thread, so there must be no
/// other.
pub(super) fn descend(user: &User) -> Result<(), ErrorBody> {
    let refused = |why: String| {
        ErrorBody::new(
            ErrorCode::Internal,
            format!("Root's rights cannot be given up for those of {}: {why}.", user.name),
        )
        .hint("Nothing was started. Start Brakecheck without root, or name another user with --user.")
    };
    let threads = std::fs::read_dir("/proc/self/task").map(Iterator::count).unwrap_or_default();
    if threads != 1 {
        return Err(refused(format!("this process has {threads} threads")));
    }
    // Buffers that are registered with the kernel count as locked memory, which was not limited for root.
    let unlimited = Rlimit { current: None, maximum: None };
    if let Err(e) = setrlimit(Resource::Memlock, unlimited) {
        tracing::debug!("the limit of locked memory stays: {e}");
    }
    let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
    let given_up = set_thread_groups(&[gid])
        .and_then(|()| set_thread_res_gid(gid, gid, gid))
        .and_then(|()| set_thread_res_uid(uid, uid, uid))
        .and_then(|()| set_no_new_privs(true))
        // Who shares the user may then not look into this process either.
        .and_then(|()| set_dumpable_behavior(DumpableBehavior::NotDumpable));
    given_up.map_err(|e| refused(e.to_string()))?;
    if set_thread_res_uid(Uid::ROOT, Uid::ROOT, Uid::ROOT).is_ok() {
        return Err(refused("they can be taken back".into()));
    }
    let status = std::fs::read_to_string("/proc/self/status").map_err(|e| refused(format!("no proof: {e}")))?;
    let empty = |name: &str| {
        let set = status.lines().find_map(|line| line.strip_prefix(name));
        set.is_some_and(|set| set.trim().bytes().all(|digit| digit == b'0'))
    };
    if !["CapPrm:", "CapEff:", "CapInh:", "CapAmb:"].into_iter().all(empty) {
        return Err(refused("capabilities stay".into()));
    }
    Ok(())
}
