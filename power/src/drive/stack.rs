//! From the device a filesystem lies on down to the drives.

use crate::mounts;
use crate::root::{Dir, Root};
use protocol::host::Layer;

/// Deeper stacks than any that make sense; a recorded tree could hold a loop.
const MAX_DEPTH: u32 = 16;

/// The layers passed on the way down, top first, and the drives at the bottom.
#[derive(Debug, Default)]
pub(super) struct Stack<'a> {
    pub(super) layers: Vec<Layer>,
    pub(super) drives: Vec<Dir<'a>>,
}

/// Everything below the device whose directory this is.
pub(super) fn below(top: Dir<'_>) -> Stack<'_> {
    let mut stack = Stack::default();
    descend(top, &mut stack, 0);
    stack
}

/// The directory of a block device by kernel name. Old recorded trees lack `/sys/class`.
pub(super) fn by_name<'a>(root: &'a Root, name: &str) -> Option<Dir<'a>> {
    root.dir(&format!("/sys/class/block/{name}")).or_else(|| root.dir(&format!("/sys/block/{name}")))
}

fn descend<'a>(dir: Dir<'a>, stack: &mut Stack<'a>, depth: u32) {
    let lower = if depth < MAX_DEPTH { lower(&dir) } else { None };
    let Some((kind, lower)) = lower else {
        if !stack.drives.contains(&dir) {
            stack.drives.push(dir);
        }
        return;
    };
    let layer = Layer { name: dir.name().to_owned(), kind };
    if stack.layers.contains(&layer) {
        return;
    }
    stack.layers.push(layer);
    for dir in lower {
        descend(dir, stack, depth + 1);
    }
}

/// What the device is, in words, and the devices it lies on; `None` for a drive.
fn lower<'a>(dir: &Dir<'a>) -> Option<(String, Vec<Dir<'a>>)> {
    if dir.read("partition").is_some() {
        return Some(("partition".into(), vec![dir.ancestors().nth(1)?]));
    }
    let slaves = dir.enter("slaves").map(|s| s.names().iter().filter_map(|n| s.enter(n)).collect::<Vec<_>>());
    if let Some(slaves) = slaves.filter(|s| !s.is_empty()) {
        return Some((kind(dir), slaves));
    }
    let file = dir.read("loop/backing_file")?;
    let file = file.strip_suffix(" (deleted)").unwrap_or(&file);
    Some(("loop".into(), vec![mounts::device_of_path(dir.root(), file)?]))
}

fn kind(dir: &Dir<'_>) -> String {
    if let Some(level) = dir.read("md/level") {
        return format!("md {level}");
    }
    if dir.enter("bcache").is_some() {
        return "bcache".into();
    }
    if dir.enter("dm").is_none() {
        return "stacked".into();
    }
    // The mapper's table is not in sysfs, but those who make mappings put their name before the uuid.
    let uuid = dir.read("dm/uuid").unwrap_or_default();
    let maker = uuid.split('-').next().unwrap_or_default();
    match maker {
        "CRYPT" => "dm crypt".into(),
        "LVM" => "dm LVM".into(),
        "mpath" => "dm multipath".into(),
        "DMRAID" => "dm RAID".into(),
        m if m.starts_with("part") => "dm partition".into(),
        _ => "dm".into(),
    }
}
