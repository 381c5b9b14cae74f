//! Finding the brakes on the page: question, plan, start, a design of one's own, other hosts' experiments.

use crate::open;
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tests::{Browser, Server, Tree, in_browser, scratch};
use thirtyfour::components::SelectElement;
use thirtyfour::prelude::*;

fn desktop() -> Result<(Tree, Server)> {
    let machine = Tree::of(include_str!("desktop.txt"))?;
    let server = Server::below(machine.path())?;
    Ok((machine, server))
}

/// Opens the page with a target that is no other test's.
async fn brakes(browser: &Browser, server: &Server) -> Result<()> {
    open(browser, server).await?;
    browser.goto(server.page("/brakes")).await?;
    browser.fill("#target", &server.target().display().to_string()).await
}

async fn ask(browser: &Browser, question: &str) -> Result<()> {
    Ok(browser.see(&format!("[data-question='{question}']")).await?.click().await?)
}

/// Waits until the plan of what is typed is shown.
async fn planned(browser: &Browser, question: &str) -> Result<()> {
    browser.see_text("[data-testid=plan] h2", question).await?;
    browser.until("!document.querySelector('[data-testid=plan]').matches('.stale')").await
}

/// Fails if the console holds an error, other than that the server refused a plan or a file: that is an answer.
async fn no_errors(browser: &Browser) -> Result<()> {
    let log = browser.browser_log().await?;
    let errors: Vec<_> = log
        .into_iter()
        .filter(|e| e.level == "SEVERE" && !e.message.contains("/plan - ") && !e.message.contains("/read - "))
        .collect();
    ensure!(errors.is_empty(), "the console has errors: {errors:#?}");
    Ok(())
}

/// Chooses in a list.
async fn choose(browser: &Browser, css: &str, value: &str) -> Result<()> {
    Ok(SelectElement::new(&browser.see(css).await?).await?.select_by_value(value).await?)
}

/// As short as an experiment can be.
async fn briefly(browser: &Browser) -> Result<()> {
    browser.see(".asking .own > .more > summary").await?.click().await?;
    browser.see("input[value='4k-qd1']").await?.click().await?;
    for (field, text) in [("min_blocks", "2"), ("max_blocks", "2"), ("trial_seconds", "0.05")] {
        browser.fill(&format!("#field-{field}"), text).await?;
    }
    Ok(())
}

/// An experiment of two blocks through the API; returns its id.
async fn finished(server: &Server, knob: &str) -> Result<String> {
    let workload = json!({ "name": "small", "rw": "randread", "size": "4m", "runtime": "50ms" });
    let spec = json!({ "design": "one-at-a-time", "from": "all-performance", "target": server.target(),
        "knobs": [knob], "workloads": [workload], "min_blocks": 2, "max_blocks": 2 });
    let id = crate::id(&server.post("/experiments?patience=0s", &spec).await?)?;
    over(server, &id).await.map(|()| id)
}

async fn over(server: &Server, id: &str) -> Result<()> {
    let ended = |v: &Value| v["state"].as_str().is_some_and(|s| s != "running");
    let event = server.event(|f| match f["type"].as_str() {
        Some("snapshot") => f["experiment"]["head"]["id"] == id && ended(&f["experiment"]),
        Some("experiment-finished") => f["experiment"] == id,
        _ => false,
    });
    event.await.map(drop)
}

#[tokio::test]
async fn every_question_has_its_plan() -> Result<()> {
    let (machine, server) = desktop()?;
    in_browser("questions", async |browser| {
        brakes(browser, &server).await?;
        planned(browser, "Which setting").await?;
        browser.see_text("[data-testid=plan] [data-knob='cpu.turbo']", "Turbo").await?;
        browser.see_text("[data-testid=plan-time]", "min|s|h").await?;
        browser.see_text("[data-testid=command]", "^brakecheck check --target /").await?;
        for (question, words) in [
            ("ab", "How much faster"),
            ("pcie-link", "link"),
            ("wait-mode", "how a program waits"),
            ("power-plan", "profile"),
            ("x58-gigabyte", "Gigabyte"),
            ("x58-supermicro", "Supermicro"),
        ] {
            ask(browser, question).await?;
            planned(browser, words).await?;
            browser.see_text("[data-testid=command]", &format!("experiment run {question} ")).await?;
        }
        ensure!(browser.eval("document.querySelectorAll('#settings option').length").await? != 0);
        no_errors(browser).await?;
        // There is no SATA drive in it.
        ask(browser, "ncq").await?;
        browser.see_text(".instrument [data-testid=error]", "[a-z]{3}").await?;
        browser.see_text("#why-ncq", "[a-z]{3}").await?;
        browser.until("document.querySelector('#begin').disabled").await
    })
    .await?;
    machine.assert_as_found()
}

#[tokio::test]
async fn an_experiment_is_built_started_and_found_in_the_list() -> Result<()> {
    let (machine, server) = desktop()?;
    in_browser("own", async |browser| {
        brakes(browser, &server).await?;
        ask(browser, "own").await?;
        browser.see("input[value='cpu.turbo']").await?.click().await?;
        briefly(browser).await?;
        browser.see_text("[data-testid=command]", "knobs=\\[\"cpu.turbo\"\\]").await?;
        browser.until("!document.querySelector('#begin').disabled").await?;
        let rows = "document.querySelectorAll('[data-testid=plan] [data-knob]').length";
        browser.until(&format!("{rows} === 1")).await?;
        browser.see("#begin").await?.click().await?;
        browser.until("location.pathname.startsWith('/experiments/')").await?;
        let path = browser.eval("location.pathname").await?;
        let id = path.as_str().and_then(|p| p.rsplit('/').next()).context("the address ends with the id")?.to_owned();
        over(&server, &id).await?;
        browser.goto(server.page("/results")).await?;
        browser.see_text(&format!("[data-result='{id}']"), "one-at-a-time").await?;
        browser.fill("#filter", "nowhere").await?;
        browser.see_text(".nothing", "all of these words").await?;
        browser.fill("#filter", "experiment").await?;
        browser.see(&format!("[data-result='{id}'] [data-testid=delete]")).await?.click().await?;
        browser.see("[data-testid=delete-yes]").await?.click().await?;
        browser.until(&format!("!document.querySelector(\"[data-result='{id}']\")")).await?;
        ensure!(server.get("/experiments").await? == json!([]), "it is still stored");
        no_errors(browser).await
    })
    .await?;
    machine.assert_as_found()
}

#[tokio::test]
async fn a_file_opens_in_the_form() -> Result<()> {
    let (_machine, server) = desktop()?;
    let dir = scratch()?;
    let (file, broken) = (dir.path().join("mine.toml"), dir.path().join("broken.toml"));
    let toml = "name = \"monday\"\ndesign = \"one-at-a-time\"\nknobs = [\"cpu.turbo\"]\nseed = 7\n\
        workloads = [\"4k-qd1\", { name = \"db\", rw = \"randread\", bs = \"8k\", size = \"4m\" }]\n";
    std::fs::write(&file, toml)?;
    std::fs::write(&broken, "design = \"ab\"\nsead = 7\n")?;
    in_browser("open", async |browser| {
        brakes(browser, &server).await?;
        planned(browser, "Which setting").await?;
        let input = browser.find(By::Css("input[name=file]")).await?;
        input.send_keys(broken.display().to_string()).await?;
        browser.see_text(".setup [data-testid=error]", "did you mean `seed`").await?;
        input.send_keys(file.display().to_string()).await?;
        browser.see_text("[data-testid=plan] [data-knob='cpu.turbo']", "Turbo").await?;
        browser.until("!document.querySelector('.setup [data-testid=error]')").await?;
        browser.until("document.querySelectorAll('[data-testid=plan] [data-knob]').length === 1").await?;
        browser.see_text("[data-testid=plan]", "db").await?;
        for shown in [
            "[value=own]:checked",
            "[name=knobs][value='cpu.turbo']:checked",
            "[name=workloads][value='4k-qd1']:checked",
        ] {
            browser.until(&format!("document.querySelector(\"{shown}\")")).await?;
        }
        browser.until("document.querySelector('#field-seed').value === '7'").await?;
        browser.until("document.querySelector('#field-tables').value.startsWith('db: ')").await?;
        browser.until("/name = .monday/.test(document.querySelector('#own').innerText)").await?;
        let saved = "decodeURIComponent(document.querySelector('[data-testid=plan] [download]').href)";
        browser.until(&format!("/name = .monday/.test({saved}) && /bs = /.test({saved})")).await?;
        no_errors(browser).await
    })
    .await
}

#[tokio::test]
async fn what_is_risky_is_asked_for() -> Result<()> {
    let machine = Tree::laptop()?;
    let server = Server::below(machine.path())?;
    in_browser("risk", async |browser| {
        brakes(browser, &server).await?;
        browser.until("!document.querySelector('[name=risk]')").await?;
        ask(browser, "own").await?;
        choose(browser, "#field-design", "ladder").await?;
        browser.fill("#field-rung", "as found:\nslow: pcie.link-speed@0000:02:00.0=2.5 GT/s").await?;
        browser.see_text(".risk", "drive").await?;
        browser.until("document.querySelector('#begin').disabled").await?;
        browser.see("[name=risk]").await?.click().await?;
        browser.until("!document.querySelector('#begin').disabled").await?;
        browser.until("/risk = true/.test(document.querySelector('[data-testid=toml]').textContent)").await?;
        // Another question asks anew.
        ask(browser, "check").await?;
        browser.until("!document.querySelector('[name=risk]')").await
    })
    .await?;
    machine.assert_as_found()
}

#[tokio::test]
async fn what_is_wrong_is_said_beside_its_field() -> Result<()> {
    let (_machine, server) = desktop()?;
    in_browser("wrong", async |browser| {
        brakes(browser, &server).await?;
        ask(browser, "own").await?;
        browser.see(".asking .own > .more > summary").await?.click().await?;
        for (field, wrong, words, right) in [
            ("threshold_percent", "much", "Write a number", "2"),
            ("threshold_percent", "0", "above 0 and below 100", "2"),
            ("max_blocks", "3", "below min_blocks", "8"),
        ] {
            browser.fill(&format!("#field-{field}"), wrong).await?;
            browser.see_text(&format!("#problem-{field}"), words).await?;
            ensure!(browser.eval("document.querySelector('#begin').disabled").await? == true, "{field}={wrong}");
            browser.fill(&format!("#field-{field}"), right).await?;
            browser.until(&format!("document.querySelector('#problem-{field}').innerText === ''")).await?;
        }
        browser.fill("#field-others", "4k-qd2").await?;
        browser.see_text("#problem-workloads", "did you mean `4k-qd1`").await?;
        browser.fill("#field-others", "cold-read-2s").await?;
        choose(browser, "#field-design", "ab").await?;
        choose(browser, "#field-design", "ladder").await?;
        browser.fill("#field-rung", "as found:\nTurbo off: cpu.turbo").await?;
        browser.see_text("#problem-rung", "Line 2").await?;
        browser.fill("#field-rung", "as found:\nTurbo off:").await?;
        let settings = SelectElement::new(&browser.see("select[name=setting]").await?).await?;
        settings.select_by_visible_text("cpu.turbo=off").await?;
        browser.until("document.querySelector('#field-rung').value.endsWith('Turbo off: cpu.turbo=off')").await?;
        planned(browser, "step").await?;
        browser.see_text("[data-testid=command]", "run experiment.toml").await
    })
    .await
}

#[tokio::test]
async fn a_host_that_offers_nothing_says_why() -> Result<()> {
    let machine = Tree::of("proc/sys/kernel/random/boot_id = 6f1c9a3e-0000-4000-8000-000000000000")?;
    let server = Server::below(machine.path())?;
    in_browser("refused", async |browser| {
        brakes(browser, &server).await?;
        browser.see_text(".instrument [data-testid=error]", "[a-z]{3}.*\\.").await?;
        browser.see_text("#why-check", "[a-z]{3}").await?;
        ensure!(browser.eval("document.querySelector('#begin').disabled").await? == true);
        // This one needs no setting.
        ask(browser, "wait-mode").await?;
        browser.until("!document.querySelector('#begin').disabled").await
    })
    .await
}

#[tokio::test]
async fn other_hosts_experiments_are_imported_and_compared() -> Result<()> {
    let (_machine, server) = desktop()?;
    let (own, other) = (finished(&server, "cpu.turbo").await?, finished(&server, "cpu.governor").await?);
    let dir = scratch()?;
    let (file, broken) = (dir.path().join("other.json"), dir.path().join("broken.json"));
    std::fs::write(&file, server.get(&format!("/experiments/{other}")).await?.to_string())?;
    std::fs::write(&broken, "{\"version\"")?;
    server.delete(&format!("/experiments/{other}")).await?;
    in_browser("import", async |browser| {
        open(browser, &server).await?;
        browser.goto(server.page("/results")).await?;
        browser.see(&format!("[data-result='{own}']")).await?;
        let input = browser.find(By::Css("#import")).await?;
        input.send_keys(broken.display().to_string()).await?;
        browser.see_text("[data-testid=error]", "[a-z]{3}").await?;
        input.send_keys(file.display().to_string()).await?;
        browser.see_text("[data-testid=imported]", "other.json is in the list").await?;
        browser.see_text("tr.selected", "experiment from ").await?;
        browser.see(&format!("[data-result='{own}'] input")).await?.click().await?;
        browser.see("#compare:enabled").await?.click().await?;
        browser.until("location.search.startsWith('?experiments=')").await?;
        browser.see_text("main", "Compare").await
    })
    .await
}
