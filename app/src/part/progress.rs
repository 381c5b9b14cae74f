//! How far the run is, and how long it will take.

use crate::format;
use crate::live::Handle;
use crate::model::RunModel;
use leptos::prelude::*;
use protocol::run::RunState;

/// Where the run stands, in words.
pub(crate) fn standing(model: &RunModel) -> String {
    match model.record.state {
        RunState::Queued if model.is_plan() => String::new(),
        RunState::Queued => "waits for another run to end".into(),
        RunState::Running => match (model.eta_ms, model.pause_ms) {
            (None, _) => "starting".into(),
            (Some(ms), pause) => {
                let pause = pause.map(|p| format!("pausing, {:.0} s \u{b7} ", (p / 1e3).ceil())).unwrap_or_default();
                format!("{pause}{} \u{b7} {} left", format::percent(model.progress), format::clock(ms))
            }
        },
        RunState::Done => "done".into(),
        RunState::Stopped => "stopped; what was measured is kept".into(),
        RunState::Failed => "failed".into(),
        RunState::Interrupted => "interrupted; what was measured is kept".into(),
    }
}

/// A hairline that fills, and the words.
#[component]
pub(crate) fn Progress(handle: Handle) -> impl IntoView {
    let share = Memo::new(move |_| handle.numbers(|m| (m.progress * 1000.0).round() / 10.0).unwrap_or(0.0));
    let words = Memo::new(move |_| handle.numbers(standing));
    let running = Memo::new(move |_| handle.structure(crate::model::State::running));
    view! {
        <div class="progress" class:running=move || running.get()>
            <div
                class="track"
                role="progressbar"
                aria-label="Progress of the run"
                aria-valuemin="0"
                aria-valuemax="100"
                aria-valuenow=move || share.get().to_string()
                aria-valuetext=move || words.get()
                data-testid="progress"
            >
                <div class="done" style:width=move || format!("{}%", share.get())></div>
            </div>
            <p data-testid="standing">{move || words.get()}</p>
        </div>
    }
}
