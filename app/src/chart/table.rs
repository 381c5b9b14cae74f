//! The same points as a table, for those who cannot or do not want to read a curve.

use super::curve::Curve;
use crate::format::{digits, iops, latency, throughput};
use crate::live::Handle;
use crate::model::Metric;
use leptos::prelude::*;
use protocol::units::{BytesPerSecond, Iops};

/// A table of all points of a group, made when it is opened and again with each pass that ends.
#[component]
pub(crate) fn PointTable(handle: Handle, group: Signal<usize>) -> impl IntoView {
    let open = RwSignal::new(false);
    let rows = move || {
        handle.run(|m| {
            let (Some(group), Some(track)) = (m.groups.get(group.get()), m.tracks.get(group.get())) else {
                return Vec::new();
            };
            let points = track.points();
            let curve = Curve::new(group, track, Metric::Throughput);
            let row = |spot: &super::curve::Spot| {
                let p = points.get(spot.index)?;
                let lat = |f: fn(&crate::model::PointLatency) -> f64| p.lat.as_ref().map(|l| latency(f(l)).text());
                Some(view! {
                    <tr>
                        <td>{digits(spot.x)}</td>
                        <td>{throughput(BytesPerSecond(p.bw())).value}</td>
                        <td>{iops(Iops(p.iops())).value}</td>
                        <td>{lat(|l| l.p50)}</td>
                        <td>{lat(|l| l.p99)}</td>
                        <td>{if spot.faint { "not scored" } else { "" }}</td>
                    </tr>
                })
            };
            curve.spots.iter().filter_map(row).collect()
        })
    };
    view! {
        <details
            class="behind"
            on:toggle=move |ev| open.set(event_target::<web_sys::Element>(&ev).has_attribute("open"))
        >
            <summary>"Points as a table"</summary>
            <Show when=move || open.get()>
                <div class="scroll" tabindex="0" role="region" aria-label="Points of the curve">
                    <table class="data">
                        <thead>
                            <tr>
                                <th scope="col">"Time, s"</th>
                                <th scope="col">"MB/s"</th>
                                <th scope="col">"IOPS"</th>
                                <th scope="col">"p50"</th>
                                <th scope="col">"p99"</th>
                                <th scope="col">"Remark"</th>
                            </tr>
                        </thead>
                        <tbody>{rows}</tbody>
                    </table>
                </div>
            </Show>
        </details>
    }
}
