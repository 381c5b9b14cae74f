//! A headless Chromium, driven through chromedriver.

use anyhow::{Context, Result, bail, ensure};
use futures_util::FutureExt;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::ops::Deref;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;
use thirtyfour::prelude::*;

/// Colour scheme of the desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Dark.
    Dark,
    /// Light.
    Light,
}

/// One browser window, 1440 x 900, dark. Dereferences to the driver.
#[derive(Debug)]
pub struct Browser {
    driver: WebDriver,
}

impl Deref for Browser {
    type Target = WebDriver;
    fn deref(&self) -> &WebDriver {
        &self.driver
    }
}

/// Runs a test in a browser of its own. However it ends, the browser is closed; after a failure a picture of the
/// page is left in `tests/artifacts`.
pub async fn in_browser(name: &str, test: impl AsyncFnOnce(&Browser) -> Result<()>) -> Result<()> {
    let profile = tempfile::tempdir()?;
    let (mut chromedriver, _stdout, port) = start_chromedriver()?;
    let result = match connect(port, profile.path()).await {
        Err(error) => Ok(Err(error)),
        Ok(driver) => {
            let browser = Browser { driver };
            let result = AssertUnwindSafe(test(&browser)).catch_unwind().await;
            if !matches!(result, Ok(Ok(()))) {
                browser.leave_evidence(name).await;
            }
            browser.driver.quit().await?;
            result
        }
    };
    chromedriver.kill()?;
    chromedriver.wait()?;
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// chromedriver takes a free port and says which.
fn start_chromedriver() -> Result<(Child, BufReader<ChildStdout>, u16)> {
    let mut child = Command::new("chromedriver")
        .arg("--port=0")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("chromedriver; `tests/setup` installs it")?;
    let mut stdout = BufReader::new(child.stdout.take().context("stdout is piped")?);
    let mut line = String::new();
    while stdout.read_line(&mut line)? > 0 {
        if let Some((_, port)) = line.split_once("successfully on port ") {
            return Ok((child, stdout, port.trim().trim_end_matches('.').parse()?));
        }
        line.clear();
    }
    bail!("chromedriver ended without naming its port: {:?}", child.wait()?)
}

async fn connect(port: u16, profile: &std::path::Path) -> Result<WebDriver> {
    let mut caps = DesiredCapabilities::chrome();
    let profile = format!("--user-data-dir={}", profile.display());
    for arg in [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--force-color-profile=srgb",
        &profile,
    ] {
        caps.add_arg(arg)?;
    }
    // Certificates that a server of the tests has made for itself.
    caps.accept_insecure_certs(true)?;
    caps.set("goog:loggingPrefs", json!({ "browser": "ALL" }))?;
    let driver = WebDriver::new(format!("http://127.0.0.1:{port}"), caps).await?;
    let browser = Browser { driver };
    browser.set_script_timeout(QUESTION).await?;
    browser.size(1440, 900).await?;
    browser.scheme(Scheme::Dark).await?;
    Ok(browser.driver)
}

/// How long the page may take with a question, and how often it is asked.
const QUESTION: Duration = Duration::from_secs(8);
const QUESTIONS: usize = 5;

impl Browser {
    /// Waits until a JavaScript expression is true, looking at every frame; at most 40 s. A page that loads itself anew
    /// meanwhile takes the question with it, so that it is asked again.
    pub async fn until(&self, condition: &str) -> Result<()> {
        let script = format!(
            "const done = arguments[arguments.length - 1];
             const look = () => {{ let ok = false; try {{ ok = {condition}; }} catch (e) {{}} \
             if (ok) done(true); else requestAnimationFrame(look); }};
             look();"
        );
        let mut told = Ok(());
        for _ in 0..QUESTIONS {
            told = self.execute_async(script.as_str(), vec![]).await.map(drop);
            if told.is_ok() {
                break;
            }
        }
        told.with_context(|| format!("waited for {condition}"))
    }

    /// Waits until an element is shown, and returns it.
    pub async fn see(&self, css: &str) -> Result<WebElement> {
        self.until(&format!("document.querySelector({})?.checkVisibility()", quoted(css))).await?;
        Ok(self.find(By::Css(css)).await?)
    }

    /// Waits until an element's text matches a regular expression of JavaScript.
    pub async fn see_text(&self, css: &str, pattern: &str) -> Result<()> {
        let (css, pattern) = (quoted(css), quoted(pattern));
        self.until(&format!("new RegExp({pattern}).test(document.querySelector({css})?.innerText)")).await
    }

    /// The value of a JavaScript expression.
    pub async fn eval(&self, expression: &str) -> Result<Value> {
        Ok(self.execute(format!("return {expression}"), vec![]).await?.json().clone())
    }

    /// Fills a text field as a user would.
    pub async fn fill(&self, css: &str, text: &str) -> Result<()> {
        let field = self.see(css).await?;
        field.send_keys(Key::Control + "a").await?;
        field.send_keys(text).await?;
        Ok(())
    }

    /// Sets the size of the page in CSS pixels.
    pub async fn size(&self, width: u32, height: u32) -> Result<()> {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.cdp().send_raw("Emulation.setDeviceMetricsOverride", metrics).await?;
        Ok(())
    }

    /// Sets what the desktop prefers.
    pub async fn scheme(&self, scheme: Scheme) -> Result<()> {
        let value = if scheme == Scheme::Dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        self.cdp().send_raw("Emulation.setEmulatedMedia", media).await?;
        Ok(())
    }

    /// Fails if the console holds an error (a violated content security policy is one).
    pub async fn no_errors(&self) -> Result<()> {
        let errors: Vec<_> = self.browser_log().await?.into_iter().filter(|e| e.level == "SEVERE").collect();
        ensure!(errors.is_empty(), "the console has errors: {errors:#?}");
        Ok(())
    }

    /// A picture for README: `{name}.png` in the directory named by `BRAKECHECK_SCREENSHOTS`, if it is set.
    pub async fn picture(&self, name: &str) -> Result<()> {
        if let Some(dir) = std::env::var_os("BRAKECHECK_SCREENSHOTS") {
            std::fs::create_dir_all(&dir)?;
            self.screenshot(&PathBuf::from(dir).join(format!("{name}.png"))).await?;
        }
        Ok(())
    }

    async fn leave_evidence(&self, name: &str) {
        let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("artifacts");
        let path = dir.join(format!("{name}.png"));
        let saved = std::fs::create_dir_all(&dir).is_ok() && self.screenshot(&path).await.is_ok();
        eprintln!("picture of the page: {}", if saved { path.display().to_string() } else { "none".into() });
        eprintln!("console: {:?}", self.browser_log().await);
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
