//! What machine this is.

use crate::cpulist;
use crate::root::Root;

/// `PRETTY_NAME` of os-release.
pub(super) fn os(root: &Root) -> Option<String> {
    let text = root.read("/etc/os-release").or_else(|| root.read("/usr/lib/os-release"))?;
    let name = text.lines().find_map(|l| l.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim().trim_matches(['"', '\'']).to_owned())
}

/// Kernel release, `6.18.5-amd64`.
pub(super) fn kernel(root: &Root) -> Option<String> {
    root.read("/proc/sys/kernel/osrelease")
        .or_else(|| root.read("/proc/version")?.split_whitespace().nth(2).map(Into::into))
}

/// The value of the first line of `/proc/cpuinfo` with this key.
pub(super) fn cpuinfo(root: &Root, key: &str) -> Option<String> {
    let text = root.read("/proc/cpuinfo")?;
    text.lines().filter_map(|l| l.split_once(':')).find(|(k, _)| k.trim() == key).map(|(_, v)| v.trim().to_owned())
}

/// Marketing name where the architecture has one, else what it says instead.
pub(super) fn cpu_model(root: &Root) -> Option<String> {
    let named = ["model name", "cpu model", "uarch", "Hardware"].iter().find_map(|key| cpuinfo(root, key));
    named.or_else(|| {
        // ARM: numbers of the implementer and the part are all there is.
        let (implementer, part) = (cpuinfo(root, "CPU implementer")?, cpuinfo(root, "CPU part")?);
        Some(format!("ARM implementer {implementer} part {part}"))
    })
}

/// Number of CPUs online.
pub(super) fn cpus_online(root: &Root) -> Option<u32> {
    let online = root.read("/sys/devices/system/cpu/online").and_then(|list| cpulist::parse(&list));
    let count = online.map(|cpus| cpus.len()).or_else(|| {
        let text = root.read("/proc/cpuinfo")?;
        Some(text.lines().filter(|l| l.starts_with("processor")).count())
    })?;
    u32::try_from(count).ok().filter(|&n| n > 0)
}

/// Memory in bytes.
pub(super) fn memory(root: &Root) -> Option<u64> {
    let text = root.read("/proc/meminfo")?;
    let kib = text.lines().find_map(|l| l.strip_prefix("MemTotal:"))?.trim().strip_suffix("kB")?;
    kib.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Maker and model, from the firmware's tables or the device tree.
pub(super) fn machine(root: &Root) -> Option<String> {
    let dmi = |name: &str| {
        // What boards say when their maker filled in nothing.
        let filler = ["To Be Filled", "To be filled", "Default string", "System ", "Not Specified", "O.E.M.", "None"];
        root.read(&format!("/sys/class/dmi/id/{name}")).filter(|v| !filler.iter().any(|f| v.starts_with(f)))
    };
    let pair = |vendor: Option<String>, model: Option<String>| match (vendor, model) {
        (Some(v), Some(m)) if m.starts_with(&v) => Some(m),
        (Some(v), Some(m)) => Some(format!("{v} {m}")),
        (_, model) => model,
    };
    // Lenovo keeps the name that people know in product_version.
    let product = dmi("product_version").filter(|v| v.starts_with("Think")).or_else(|| dmi("product_name"));
    pair(dmi("sys_vendor"), product)
        .or_else(|| pair(dmi("board_vendor"), dmi("board_name")))
        .or_else(|| root.read("/proc/device-tree/model"))
}

/// On AC or on battery; `None` where no power supply says.
pub fn on_ac(root: &Root) -> Option<bool> {
    let dir = root.dir("/sys/class/power_supply")?;
    let supplies: Vec<_> = dir.names().iter().filter_map(|n| dir.enter(n)).collect();
    let of_type = |types: &'static [&str]| {
        supplies.iter().filter(move |s| s.read("type").is_some_and(|t| types.contains(&t.as_str())))
    };
    // A mouse has a battery too; its scope says so.
    let discharging = of_type(&["Battery"])
        .filter(|s| s.read("scope").as_deref() != Some("Device"))
        .filter_map(|s| s.read("status"))
        .map(|status| status == "Discharging")
        .reduce(|a, b| a || b);
    let online = |types| of_type(types).filter_map(|s| s.parse::<u8>("online")).map(|v| v != 0).reduce(|a, b| a || b);
    match online(&["Mains"]) {
        // A USB-C supply reports under USB while the barrel jack's Mains says 0.
        Some(false) => Some(online(&["USB"]) == Some(true)),
        Some(true) => Some(true),
        None => discharging.map(|d| !d),
    }
}
