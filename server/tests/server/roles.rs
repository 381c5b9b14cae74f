//! Every route of the API, and who may ask for it.

use crate::common::TestServer;
use reqwest::Method;
use serde_json::{Value, json};

/// Method and path of every operation, with an id in the place of each parameter.
pub(crate) fn operations(document: &impl serde::Serialize) -> Vec<(Method, String)> {
    let document = serde_json::to_value(document).unwrap();
    let operations = |(path, item): (&String, &Value)| {
        let path = path.split('/').map(|part| if part.starts_with('{') { "1" } else { part });
        let path = path.collect::<Vec<_>>().join("/");
        let methods = item.as_object().unwrap().keys().map(|m| m.to_uppercase().parse().unwrap());
        methods.map(|method: Method| (method, path.clone())).collect::<Vec<_>>()
    };
    document["paths"].as_object().unwrap().iter().flat_map(operations).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_to_be_had_without_the_token_but_a_sign_of_life_and_the_exchange() {
    let server = TestServer::start().await;
    let operations = operations(&server::http::openapi());
    assert!(operations.iter().filter(|(method, _)| *method != Method::GET).count() > 5, "{operations:?}");
    let mut open = Vec::new();
    for (method, path) in operations {
        let request = server.access.client.request(method.clone(), server.access.url(&path)).json(&json!({}));
        if request.send().await.unwrap().status() != 401 {
            open.push(format!("{method} {path}"));
        }
    }
    open.sort();
    // The exchange was refused for its empty body, which it may look at.
    assert_eq!(open, ["GET /healthz", "POST /api/v1/session"]);
    server.stop().await;
}

#[test]
fn viewers_are_offered_nothing_that_changes_anything() {
    let offered = operations(&server::http::viewers_openapi());
    assert!(offered.len() > 5, "{offered:?}");
    assert!(offered.iter().all(|(method, _)| *method == Method::GET), "{offered:?}");
}
