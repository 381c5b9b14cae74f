//! A server, as its enemies know it; and what they must not learn.

use crate::attack::Attack;
use crate::wire;
use anyhow::{Context, Result, ensure};
use base64::prelude::{BASE64_STANDARD, Engine};
use std::net::SocketAddr;
use std::sync::Arc;
use tests::Server;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// A server, as its enemies know it; and what they must not learn.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    /// The operator's listener.
    pub(crate) own: SocketAddr,
    /// The viewers' listener.
    pub(crate) lan: SocketAddr,
    /// What the viewers' listener is encrypted with, if it is.
    pub(crate) tls: Option<Arc<ClientConfig>>,
    /// Whether viewers need no password.
    pub(crate) open: bool,
    /// Methods and paths that change something.
    pub(crate) mutating: Vec<(String, String)>,
    /// Paths that show something, to whoever may see it.
    pub(crate) showing: Vec<String>,
    /// The operator's token.
    pub(crate) token: String,
    /// Value of the operator's cookie.
    pub(crate) operator: String,
    /// Value of the viewers' cookie, where there is a password.
    pub(crate) viewer: Option<String>,
    /// Texts that no viewer may see.
    pub(crate) secrets: Vec<String>,
}

impl Site {
    /// Looks at a server on which this run is on; `password` is what viewers must know, and `secret` what they must not see
    /// beside token and target.
    pub(crate) async fn of(server: &Server, run: &str, password: Option<&str>, secret: &str) -> Result<Self> {
        let address = |url: &str| -> Result<SocketAddr> {
            Ok(url.rsplit("//").next().context("an address")?.trim_end_matches('/').parse()?)
        };
        let described = server.described().await?;
        let (mut mutating, mut showing) = (Vec::new(), Vec::new());
        for (path, methods) in described["paths"].as_object().context("the API has paths")? {
            let path = path.replace("{id}", run);
            for method in methods.as_object().into_iter().flat_map(|m| m.keys()) {
                match method.as_str() {
                    "get" => showing.push(path.clone()),
                    method => mutating.push((method.to_uppercase(), path.clone())),
                }
            }
        }
        ensure!(mutating.len() > 8 && showing.len() > 8, "the API is small: {mutating:?} {showing:?}");
        let viewers = server.viewers().await?;
        let mut site = Self {
            own: address(&server.page(""))?,
            lan: address(&viewers)?,
            tls: viewers.starts_with("https").then(|| trusting(server)).transpose()?,
            open: password.is_none(),
            mutating,
            showing,
            token: server.token().to_owned(),
            operator: String::new(),
            viewer: None,
            secrets: vec![server.token().to_owned(), server.target().display().to_string(), secret.to_owned()],
        };
        let body = serde_json::json!({ "token": site.token }).to_string();
        site.operator = site.cookie(
            false,
            &format!(
                "POST /api/v1/session HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
                 Content-Length: {}\r\n\r\n{body}",
                site.own,
                body.len()
            ),
        )?;
        if let Some(password) = password {
            let basic = BASE64_STANDARD.encode(format!(":{password}"));
            let head = "GET /api/v1/session HTTP/1.1\r\nConnection: close\r\n";
            let head = format!("{head}Host: {}\r\nAuthorization: Basic {basic}\r\n\r\n", site.lan);
            site.viewer = Some(site.cookie(true, &head)?);
            site.secrets.push(password.to_owned());
        }
        site.secrets.extend([site.operator.clone()].into_iter().chain(site.viewer.clone()));
        Ok(site)
    }

    /// How the viewers' listener is spoken to.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }

    /// The value of the cookie that comes for this request.
    fn cookie(&self, lan: bool, request: &str) -> Result<String> {
        let answer = wire::send(self, &Attack { lan, ..Attack::plain("a cookie", request) }, &mut Vec::new())?;
        let line = answer.text.lines().find_map(|l| l.strip_prefix("set-cookie: "));
        let value = line.and_then(|l| l.split(';').next()?.split_once('='));
        Ok(value.with_context(|| format!("no cookie came: {}", answer.text))?.1.to_owned())
    }
}

/// What trusts the certificate that this server made for its viewers.
fn trusting(server: &Server) -> Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(server.state_dir().join("viewers.pem"))?)?;
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions()?;
    Ok(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}
