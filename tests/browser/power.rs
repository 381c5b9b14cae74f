//! The settings of a host, on the page and in the host's files.

use crate::{open, tab_to};
use anyhow::{Result, ensure};
use tests::{Browser, Server, Tree, in_browser};
use thirtyfour::prelude::*;

const TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";
const GOVERNOR: &str = "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
const LINK: &str = "/sys/class/thermal/cooling_device4/cur_state";
const LINK_KNOB: &str = "[data-knob='pcie.link-speed@0000:01:00.0']";
const BANNER: &str = "[data-testid=banner]";

fn desktop() -> Result<(Tree, Server)> {
    let machine = Tree::of(include_str!("desktop.txt"))?;
    let server = Server::below(machine.path())?;
    Ok((machine, server))
}

/// Opens the page of settings and waits until it lists them.
async fn settings(browser: &Browser, server: &Server) -> Result<()> {
    open(browser, server).await?;
    browser.goto(server.page("/power")).await?;
    browser.see("[data-knob='cpu.turbo']").await.map(drop)
}

/// Chooses a value of a setting.
async fn choose(browser: &Browser, knob: &str, value: &str) -> Result<()> {
    Ok(browser.see(&format!("[data-knob='{knob}'] [data-value='{value}']")).await?.click().await?)
}

async fn gone(browser: &Browser, css: &str) -> Result<()> {
    browser.until(&format!("!document.querySelector(\"{css}\")")).await
}

#[tokio::test]
async fn every_setting_is_listed_and_what_there_is_not_has_its_reason() -> Result<()> {
    let (_machine, server) = desktop()?;
    in_browser("power-list", async |browser| {
        settings(browser, &server).await?;
        for (group, knob) in [
            ("Platform", "platform.profile"),
            ("CPU", "cpu.deep-idle"),
            ("PCI Express", "pcie.link-speed@0000:01:00.0"),
            ("Drive", "nvme.apst@nvme0"),
            ("Queue", "block.scheduler@nvme0n1"),
        ] {
            browser.see(&format!("[data-group='{group}'] [data-knob='{knob}'] [data-testid=value]")).await?;
        }
        let absent = "[data-group='Drive link'] [data-testid=absent]";
        browser.see_text(&format!("{absent} summary"), "Not on this machine \\([1-9]").await?;
        browser.see(&format!("{absent} summary")).await?.click().await?;
        browser.see_text(&format!("{absent} dd"), "[a-z]{3}").await?;
        browser.see_text("[data-testid=daemons]", "tuned").await?;
        browser.see_text("[data-testid=speed]", "2\\.40").await?;
        browser.see_text("[data-testid=load]", "C10").await?;
        browser.no_errors().await
    })
    .await
}

#[tokio::test]
async fn a_setting_changes_its_file_is_told_on_every_page_and_goes_back() -> Result<()> {
    let (machine, server) = desktop()?;
    in_browser("power-set", async |browser| {
        settings(browser, &server).await?;
        gone(browser, BANNER).await?;
        choose(browser, "cpu.turbo", "off").await?;
        browser.see_text("[data-knob='cpu.turbo'] [data-testid=origin]", "set by Brakecheck, was on").await?;
        browser.see_text("[data-testid=changed]", "^1 setting is changed by Brakecheck").await?;
        ensure!(machine.read(TURBO)? == "1");
        browser.picture("power").await?;
        browser.refresh().await?;
        browser.see_text("[data-knob='cpu.turbo'] [data-testid=value]", "off").await?;
        for path in ["/", "/results"] {
            browser.goto(server.page(path)).await?;
            browser.see_text(BANNER, "1 setting is changed by Brakecheck").await?;
        }
        browser.see("[data-testid=restore]").await?.click().await?;
        gone(browser, BANNER).await?;
        machine.assert_as_found()?;
        browser.no_errors().await
    })
    .await
}

#[tokio::test]
async fn one_click_sets_everything_and_one_puts_it_back() -> Result<()> {
    let (machine, server) = desktop()?;
    in_browser("power-profile", async |browser| {
        settings(browser, &server).await?;
        browser.see("[data-profile=performance]").await?.click().await?;
        browser.see_text("[data-testid=profile-status]", "[1-9]\\d* set and read back").await?;
        browser.see_text("[data-profile=found]", "puts back \\d+ settings").await?;
        ensure!(machine.read(GOVERNOR)? == "performance" && machine.read(LINK)? == "0");
        browser.see("[data-profile=found]").await?.click().await?;
        browser.see_text("[data-testid=profile-status]", "Everything is as it was found").await?;
        gone(browser, BANNER).await?;
        machine.assert_as_found()?;
        browser.no_errors().await
    })
    .await
}

#[tokio::test]
async fn somebody_elses_change_is_shown_and_left_alone_until_told_otherwise() -> Result<()> {
    let (machine, server) = desktop()?;
    in_browser("power-drift", async |browser| {
        settings(browser, &server).await?;
        choose(browser, "cpu.governor", "performance").await?;
        browser.see("[data-testid=changed]").await?;
        machine.write(GOVERNOR, "schedutil\n")?;
        browser.see_text("[data-testid=drift]", "is schedutil now: somebody else changed it.* to performance").await?;
        browser.see_text("[data-knob='cpu.governor'] [data-testid=value]", "schedutil").await?;
        browser.see("[data-testid=restore]").await?.click().await?;
        browser.see_text("[data-testid=leftovers]", "it is schedutil and was powersave").await?;
        ensure!(machine.read(GOVERNOR)? == "schedutil");
        browser.see("[data-testid=leftovers] [data-force=true]").await?.click().await?;
        gone(browser, BANNER).await?;
        machine.assert_as_found()?;
        browser.no_errors().await
    })
    .await
}

#[tokio::test]
async fn a_risky_setting_asks_first_and_falls_back_unless_kept() -> Result<()> {
    let (machine, server) = desktop()?;
    in_browser("power-risk", async |browser| {
        settings(browser, &server).await?;
        let (id, slow) = ("pcie.link-speed@0000:01:00.0", "2.5 GT/s");
        choose(browser, id, slow).await?;
        browser.see_text("[data-testid=question]", "can vanish").await?;
        let leave = format!("{LINK_KNOB} [data-testid=question] .quiet");
        browser.see(&leave).await?.click().await?;
        gone(browser, "[data-testid=question]").await?;
        ensure!(machine.read(LINK)? == "0");
        for keep in [false, true] {
            choose(browser, id, slow).await?;
            browser.see("[data-testid=take-risk]").await?.click().await?;
            browser.see_text(&format!("{LINK_KNOB} [data-testid=trial]"), "Goes back in \\d+").await?;
            ensure!(machine.read(LINK)? == "2");
            if keep {
                browser.see(&format!("{LINK_KNOB} [data-testid=keep]")).await?.click().await?;
                gone(browser, "[data-testid=trial]").await?;
                browser.see_text(&format!("{LINK_KNOB} [data-testid=origin]"), "^set by Brakecheck, was max$").await?;
                ensure!(machine.read(LINK)? == "2");
            } else {
                browser.see_text(&format!("{LINK_KNOB} [data-testid=origin]"), "^as found$").await?;
                ensure!(machine.read(LINK)? == "0");
            }
        }
        browser.no_errors().await
    })
    .await
}

#[tokio::test]
async fn the_keyboard_alone_sets_and_restores() -> Result<()> {
    let (machine, server) = desktop()?;
    in_browser("power-keyboard", async |browser| {
        settings(browser, &server).await?;
        tab_to(browser, "[data-knob=\"cpu.turbo\"] [data-value=off]").await?;
        browser.action_chain().send_keys(Key::Enter + "").perform().await?;
        browser.see("[data-testid=changed]").await?;
        ensure!(machine.read(TURBO)? == "1");
        // From the top again.
        browser.refresh().await?;
        browser.see("[data-testid=restore]").await?;
        tab_to(browser, "[data-testid=restore]").await?;
        browser.action_chain().send_keys(Key::Enter + "").perform().await?;
        gone(browser, BANNER).await?;
        machine.assert_as_found()?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn settings_fit_a_phone_whatever_there_is_to_tell() -> Result<()> {
    let (machine, server) = desktop()?;
    in_browser("power-phone", async |browser| {
        browser.size(360, 800).await?;
        settings(browser, &server).await?;
        browser.see("[data-profile=performance]").await?.click().await?;
        browser.see("[data-testid=changed]").await?;
        machine.write(GOVERNOR, "schedutil\n")?;
        browser.see("[data-testid=drift]").await?;
        choose(browser, "pcie.link-speed@0000:01:00.0", "5 GT/s").await?;
        browser.see("[data-testid=question]").await?;
        browser.execute("document.querySelectorAll('details').forEach(d => d.open = true)", vec![]).await?;
        let width = browser.eval("document.documentElement.scrollWidth").await?;
        ensure!(width.as_u64().is_some_and(|w| w <= 360), "the page is {width} wide");
        browser.no_errors().await
    })
    .await
}
