//! What a user can apply of an experiment: the recommendation for one use, in the form of the tool that shall do it.
//!
//! Every setting stands with what was measured of it and how to undo it; what a form cannot express is said in it, in
//! a comment. Nothing of a file from elsewhere gets into a line that is executed: values and paths come from
//! [`power::recipe`], which makes them of closed sets.
//!
//! | module | what |
//! |---|---|
//! | [`choice`] | the settings that are recommended, with their recipes |
//! | [`comment`] | lines that no tool reads |
//! | [`shell`] | recipes as statements of a shell |
//! | `tuned`, `tlp`, `systemd`, `tmpfiles`, `cmdline`, `script` | one form each |

mod choice;
mod cmdline;
mod comment;
mod script;
mod shell;
mod systemd;
#[cfg(test)]
mod tests;
mod tlp;
mod tmpfiles;
mod tuned;

use choice::Choices;
use protocol::error::{ErrorBody, ErrorCode};
use protocol::experiment::{ExperimentFile, Use};
use std::fmt;
use std::str::FromStr;

/// A form in which an experiment can be had as a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The report, with everything in one file.
    Html,
    /// Everything that is known, to be imported elsewhere.
    Json,
    /// A profile of tuned.
    Tuned,
    /// A drop-in of TLP.
    Tlp,
    /// A unit of systemd.
    Systemd,
    /// Lines of tmpfiles.d.
    Tmpfiles,
    /// Kernel parameters.
    Cmdline,
    /// A shell script.
    Script,
}

impl Format {
    /// All, in the order in which they are offered.
    pub const ALL: [Self; 8] =
        [Self::Html, Self::Json, Self::Tuned, Self::Tlp, Self::Systemd, Self::Tmpfiles, Self::Cmdline, Self::Script];

    /// The name in addresses and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Json => "json",
            Self::Tuned => "tuned",
            Self::Tlp => "tlp",
            Self::Systemd => "systemd",
            Self::Tmpfiles => "tmpfiles",
            Self::Cmdline => "cmdline",
            Self::Script => "script",
        }
    }

    /// The name to save it under, from the experiment's id, of which only letters, digits and hyphens are taken.
    pub fn file_name(self, id: &str) -> String {
        let id: String = id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(64).collect();
        match self {
            Self::Html => format!("brakecheck-{id}.html"),
            Self::Json => format!("brakecheck-{id}.json"),
            Self::Tuned => "tuned.conf".into(),
            Self::Tlp => "90-brakecheck.conf".into(),
            Self::Systemd => "brakecheck-settings.service".into(),
            Self::Tmpfiles => "brakecheck.conf".into(),
            Self::Cmdline => "brakecheck-cmdline.txt".into(),
            Self::Script => "brakecheck-settings.sh".into(),
        }
    }

    /// The media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Html => "text/html; charset=utf-8",
            Self::Json => "application/json",
            _ => "text/plain; charset=utf-8",
        }
    }
}

impl FromStr for Format {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|f| f.name() == name)
            .ok_or_else(|| format!("there is no form `{name}`; there are {}", Self::ALL.map(Self::name).join(", ")))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a file of this form, as [`export`] writes it, holds nothing that could be applied.
pub fn sets_nothing(format: Format, text: &str) -> bool {
    !matches!(format, Format::Html | Format::Json) && text.lines().all(|l| l.is_empty() || l.starts_with('#'))
}

/// The experiment as a file of this form. One in which there is nothing to set says so, in comments alone.
/// `purpose` decides between recommendations, where the form holds any.
pub fn export(file: &ExperimentFile, format: Format, purpose: Use) -> Result<String, ErrorBody> {
    let choices = || Choices::of(file, purpose, format == Format::Tlp);
    Ok(match format {
        Format::Html => super::document::page(file),
        Format::Json => {
            let json = serde_json::to_string_pretty(file);
            json.map_err(|e| ErrorBody::new(ErrorCode::Internal, format!("It cannot be written as JSON: {e}.")))? + "\n"
        }
        Format::Tuned => tuned::write(&choices()),
        Format::Tlp => tlp::write(&choices()),
        Format::Systemd => systemd::write(&choices()),
        Format::Tmpfiles => tmpfiles::write(&choices()),
        Format::Cmdline => cmdline::write(&choices()),
        Format::Script => script::write(&choices()),
    })
}
