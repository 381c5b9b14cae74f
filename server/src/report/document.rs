//! The report as a fragment for the page, and as a file that needs nothing else.

use super::data::Data;
use super::markup::Markup;
use super::section;
use protocol::experiment::ExperimentFile;

/// The colours and the parts that the page has too, and the report's own. Light and dark as the reader's system has it.
const STYLE: [&str; 3] = [
    include_str!("../../../style/base.css"),
    include_str!("../../../style/tables.css"),
    include_str!("../../../style/experiment.css"),
];

/// The report, to be put into a page that has the style sheets.
pub fn fragment(file: &ExperimentFile) -> String {
    let mut m = Markup::default();
    write(&mut m, file);
    m.into_string()
}

/// The report as one HTML file: no script, nothing from elsewhere.
pub fn page(file: &ExperimentFile) -> String {
    let mut m = Markup::default();
    let title = format!("Brakecheck: {} on {}", file.report.spec.title(), file.experiment.target.path);
    m.element("html", &[("lang", &"en"), ("data-theme", &"system")], |m| {
        m.element("head", &[], |m| {
            m.void("meta", &[("charset", &"utf-8")]);
            m.void("meta", &[("name", &"viewport"), ("content", &"width=device-width, initial-scale=1")]);
            m.void("meta", &[("name", &"color-scheme"), ("content", &"dark light")]);
            m.leaf("title", &title);
            for css in STYLE {
                m.style(css);
            }
        });
        m.classed("body", "alone", |m| m.element("main", &[], |m| write(m, file)));
    });
    format!("<!doctype html>\n{}\n", m.into_string())
}

fn write(m: &mut Markup, file: &ExperimentFile) {
    let data = Data::of(file);
    m.classed("article", "report", |m| section::ALL.iter().for_each(|section| section(m, &data)));
}
