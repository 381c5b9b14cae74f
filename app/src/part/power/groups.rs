//! All settings of the host, in the order of the path to the drive.

use super::row::row;
use crate::html::Html;
use crate::live::Power;
use crate::model::{Sorted, sorted};
use leptos::prelude::*;
use protocol::knob::Group;

/// One section for each group.
#[component]
pub(crate) fn Groups() -> impl IntoView {
    let power = expect_context::<Power>();
    let groups = Memo::new(move |_| power.settings(|s| sorted(&s.host.knobs)));
    let kinds = Memo::new(move |_| groups.with(|all| all.iter().map(|g| g.group).collect::<Vec<_>>()));
    view! {
        <div class="groups">
            {move || kinds.get().into_iter().map(|group| section(power, groups, group)).collect_view()}
        </div>
    }
}

fn section(power: Power, groups: Memo<Vec<Sorted>>, group: Group) -> AnyView {
    let id = format!("group-{group:?}");
    let mine = Memo::new(move |_| groups.get().into_iter().find(|g| g.group == group));
    let present = Memo::new(move |_| mine.get().map(|g| g.present).unwrap_or_default());
    let absent = Memo::new(move |_| mine.get().map(|g| absent_list(&g.absent)));
    view! {
        <section class="group" aria-labelledby=id.clone() data-group=group.title()>
            <h2 id=id.clone()>{group.title()}</h2>
            <ul class="settings">
                {move || present.get().iter().map(|id| row(power, id)).collect_view()}
            </ul>
            <div inner_html=move || absent.get()></div>
        </section>
    }
    .into_any()
}

/// What there is not, quietly, as HTML.
fn absent_list(absent: &[(String, String)]) -> String {
    let mut h = Html::default();
    if absent.is_empty() {
        return String::new();
    }
    h.tag("<details class=\"absent\" data-testid=\"absent\"><summary>Not on this machine (").text(absent.len());
    h.tag(")</summary><dl class=\"facts\">");
    for (title, reason) in absent {
        h.tag("<div><dt>").text(title).tag("</dt><dd>").text(reason).tag("</dd></div>");
    }
    h.tag("</dl></details>");
    h.done()
}
