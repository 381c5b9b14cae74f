//! What a request asks for, checked against what the host has.

use protocol::error::{ErrorBody, ErrorCode};
use protocol::knob::{Assignment, Knob, Lifetime};
use protocol::power::{PowerState, SetRequest};

/// Longest time after which a setting goes back by itself: a week.
const LONGEST: u32 = 7 * 24 * 3600;

/// The wishes of a request.
pub(crate) fn wishes(request: &SetRequest, state: &PowerState) -> Result<Vec<Assignment>, ErrorBody> {
    let wishes = match (request.profile, request.set.as_slice()) {
        (Some(profile), []) => profile.assignments(&state.knobs),
        (Some(_), _) => return Err(usage("Ask either for single settings (`set`) or for a `profile`, not for both.")),
        (None, []) => return Err(usage("Nothing is asked for: `set` is empty and there is no `profile`.")),
        (None, wishes) => wishes.to_vec(),
    };
    if let Some(reason) = &state.read_only {
        return Err(ErrorBody::new(ErrorCode::NotPermitted, reason.clone()));
    }
    for (n, wish) in wishes.iter().enumerate() {
        let knob = state.knobs.iter().find(|k| k.id == wish.id);
        let knob = knob.ok_or_else(|| unknown(wish, &state.knobs))?;
        if wishes.iter().take(n).any(|w| w.id == wish.id) {
            return Err(usage(format!("{} is asked for twice.", wish.id)));
        }
        if knob.writable && !knob.values.contains(&wish.value) {
            let hint = format!("It takes: {}.", knob.values.join(", "));
            return Err(usage(format!("{} has no value `{}`.", wish.id, shown(&wish.value))).hint(hint));
        }
    }
    Ok(wishes)
}

/// How long what is set stays.
pub(crate) fn lifetime(request: &SetRequest) -> Result<Lifetime, ErrorBody> {
    match request.lifetime.unwrap_or_default() {
        Lifetime::Unconfirmed => Err(usage("What is risky is unconfirmed by itself: ask for `risk`.")),
        Lifetime::Experiment { .. } => Err(usage("Only an experiment sets something for an experiment.")),
        Lifetime::For { seconds } if !(1..=LONGEST).contains(&seconds) => {
            Err(usage(format!("{seconds} s is no time to keep a setting: from 1 s to a week.")))
        }
        lifetime => Ok(lifetime),
    }
}

fn unknown(wish: &Assignment, knobs: &[Knob]) -> ErrorBody {
    let family = wish.id.split('@').next().unwrap_or_default();
    let alike: Vec<&str> =
        knobs.iter().map(|k| k.id.as_str()).filter(|id| id.split('@').next() == Some(family)).collect();
    let error = usage(format!("There is no setting `{}` here.", shown(&wish.id)));
    if alike.is_empty() {
        error.hint("`brakecheck knobs` and GET /api/v1/knobs list them all.")
    } else {
        error.hint(format!("There is: {}.", alike.join(", ")))
    }
}

/// As much of a foreign text as an error message bears.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}

fn usage(message: impl Into<String>) -> ErrorBody {
    ErrorBody::new(ErrorCode::Usage, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::power::Profile;

    fn state() -> PowerState {
        let knob = |id: &str, values: &[&str]| Knob {
            id: id.into(),
            values: values.iter().map(|v| (*v).into()).collect(),
            saving_value: values.first().map(|v| (*v).into()),
            writable: true,
            ..Knob::default()
        };
        PowerState {
            knobs: vec![knob("cpu.turbo", &["off", "on"]), knob("nvme.apst@nvme0", &["auto", "off"])],
            ..PowerState::default()
        }
    }

    fn set(wishes: &[(&str, &str)]) -> SetRequest {
        let set = wishes.iter().map(|(id, value)| Assignment { id: (*id).into(), value: (*value).into() }).collect();
        SetRequest { set, ..SetRequest::default() }
    }

    #[test]
    fn what_is_wrong_is_named_with_what_there_is() {
        let of = |request: &SetRequest| {
            wishes(request, &state()).map_err(|e| format!("{e} {}", e.hint.clone().unwrap_or_default()))
        };
        let cases = [
            (set(&[]), "Nothing is asked for"),
            (set(&[("nvme.apst@nvme7", "off")]), "There is: nvme.apst@nvme0."),
            (set(&[("x", "off")]), "GET /api/v1/knobs"),
            (set(&[("cpu.turbo", "maybe")]), "It takes: off, on."),
            (set(&[("cpu.turbo", "on"), ("cpu.turbo", "off")]), "twice"),
            (SetRequest { profile: Some(Profile::Saving), ..set(&[("cpu.turbo", "on")]) }, "not for both"),
        ];
        for (request, words) in cases {
            let error = of(&request).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
        assert_eq!(of(&set(&[("cpu.turbo", "on")])).unwrap().len(), 1);
        let profile = SetRequest { profile: Some(Profile::Saving), ..SetRequest::default() };
        assert_eq!(of(&profile).unwrap().len(), 2);
    }

    #[test]
    fn without_rights_the_reason_is_told() {
        let state = PowerState { read_only: Some("needs root".into()), ..state() };
        let error = wishes(&set(&[("cpu.turbo", "on")]), &state).unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (ErrorCode::NotPermitted, "needs root"));
    }

    #[test]
    fn a_time_to_keep_has_limits() {
        let of = |seconds| lifetime(&SetRequest { lifetime: Some(Lifetime::For { seconds }), ..SetRequest::default() });
        assert!(of(0).is_err() && of(LONGEST + 1).is_err() && of(60).is_ok());
        assert_eq!(lifetime(&SetRequest::default()), Ok(Lifetime::Session));
    }
}
