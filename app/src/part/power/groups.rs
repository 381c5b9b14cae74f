//! All settings of the host, in the order of the path to the drive.

use super::row::row;
use crate::live::Power;
use crate::model::{Sorted, sorted};
use leptos::prelude::*;

/// One section for each group.
#[component]
pub(crate) fn Groups() -> impl IntoView {
    let power = expect_context::<Power>();
    let groups = Memo::new(move |_| power.settings(|s| sorted(&s.host.knobs)));
    view! {
        <div class="groups">
            <For each=move || groups.get() key=|g| g.group let(g)>
                {section(power, groups, &g)}
            </For>
        </div>
    }
}

fn section(power: Power, groups: Memo<Vec<Sorted>>, first: &Sorted) -> AnyView {
    let (group, id) = (first.group, format!("group-{:?}", first.group));
    let mine = Memo::new(move |_| groups.get().into_iter().find(|g| g.group == group));
    let present = move || mine.get().map(|g| g.present).unwrap_or_default();
    let absent = Memo::new(move |_| mine.get().map(|g| g.absent).unwrap_or_default());
    view! {
        <section class="group" aria-labelledby=id.clone() data-group=group.title()>
            <h2 id=id.clone()>{group.title()}</h2>
            <ul class="settings">
                <For each=present key=String::clone let(id)>
                    {row(power, &id)}
                </For>
            </ul>
            {move || absent_list(absent.get())}
        </section>
    }
    .into_any()
}

/// What there is not, quietly.
fn absent_list(absent: Vec<(String, String)>) -> Option<AnyView> {
    if absent.is_empty() {
        return None;
    }
    let line = |(title, reason): (String, String)| view! { <div><dt>{title}</dt><dd>{reason}</dd></div> };
    Some(
        view! {
            <details class="absent" data-testid="absent">
                <summary>{format!("Not on this machine ({})", absent.len())}</summary>
                <dl class="facts">{absent.into_iter().map(line).collect_view()}</dl>
            </details>
        }
        .into_any(),
    )
}
