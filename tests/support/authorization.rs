//! An MCP server that wants a login, with its authorization server, and the browser of the user.

use std::collections::{HashMap, HashSet};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Url;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::mcp_http::HttpServer;
use super::server::{Reply, Request};

/// A running pair of servers at one address.
pub struct Authorization {
    pub server: HttpServer,
    state: Arc<Mutex<State>>,
}

/// What the authorization server says about itself, which a test may bend.
type Bend = dyn Fn(&str, &mut Value) + Send + Sync;

#[derive(Default)]
struct State {
    /// The codes that were given, each with what the login began with.
    codes: HashMap<String, HashMap<String, String>>,
    /// The tokens that are taken.
    valid: HashSet<String>,
    refresh: HashSet<String>,
    made: usize,
    /// The forms that asked for tokens.
    asked: Vec<HashMap<String, String>>,
}

impl Authorization {
    /// Starts them.
    pub fn start() -> Self {
        Self::bent(|_, _| {})
    }

    /// Starts them with documents that a test bends: it gets the path of each, and what it would say.
    pub fn bent(bend: impl Fn(&str, &mut Value) + Send + Sync + 'static) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let (shared, bend): (_, Box<Bend>) = (Arc::clone(&state), Box::new(bend));
        let server = HttpServer::start(move |request| shared.lock().unwrap().answer(request, &bend));
        Self { server, state }
    }

    /// Is the browser of a user who agrees: returns where it is sent back to.
    pub fn agree(&self, place: &Url) -> Url {
        let asked: HashMap<String, String> = place.query_pairs().into_owned().collect();
        assert_eq!(place.path(), "/auth/authorize");
        assert_eq!((asked["response_type"].as_str(), asked["code_challenge_method"].as_str()), ("code", "S256"));
        assert_eq!(asked["resource"], format!("{}/mcp", self.server.server.origin()));
        let mut back: Url = asked["redirect_uri"].parse().unwrap();
        back.query_pairs_mut()
            .append_pair("code", "code-1")
            .append_pair("state", &asked["state"])
            .append_pair("iss", &format!("{}/auth", self.server.server.origin()));
        self.state.lock().unwrap().codes.insert("code-1".to_owned(), asked);
        back
    }

    /// Takes no token any more that was given.
    pub fn revoke(&self) {
        self.state.lock().unwrap().valid.clear();
    }

    /// Takes no token to renew others with any more, either.
    pub fn revoke_all(&self) {
        self.revoke();
        self.state.lock().unwrap().refresh.clear();
    }

    /// Returns the forms that asked for tokens.
    pub fn asked(&self) -> Vec<HashMap<String, String>> {
        self.state.lock().unwrap().asked.clone()
    }
}

impl State {
    fn answer(&mut self, request: &Request, bend: &Bend) -> Option<Reply> {
        let origin = format!("http://{}", request.header("host").unwrap());
        let document = |mut value: Value| {
            bend(&request.path, &mut value);
            Some(Reply::json(200, value))
        };
        match request.path.as_str() {
            "/mcp" => {
                let token = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
                if token.is_some_and(|token| self.valid.contains(token)) {
                    return None;
                }
                let place = format!("{origin}/.well-known/oauth-protected-resource/mcp");
                let wanted = format!("Bearer resource_metadata=\"{place}\", scope=\"notes:read\"");
                Some(Reply::body(401, "").header("www-authenticate", &wanted))
            }
            "/.well-known/oauth-protected-resource/mcp" => document(json!({
                "resource": format!("{origin}/mcp"),
                "authorization_servers": [format!("{origin}/auth")],
            })),
            "/.well-known/oauth-authorization-server/auth" => document(json!({
                "issuer": format!("{origin}/auth"),
                "authorization_endpoint": format!("{origin}/auth/authorize"),
                "token_endpoint": format!("{origin}/auth/token"),
                "registration_endpoint": format!("{origin}/auth/register"),
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": true,
            })),
            "/auth/register" => {
                assert_eq!(request.body["token_endpoint_auth_method"], "none");
                Some(Reply::json(201, json!({"client_id": "client-1"})))
            }
            "/auth/token" => Some(self.token(request)),
            _ => Some(Reply::body(404, "")),
        }
    }

    fn token(&mut self, request: &Request) -> Reply {
        let form = Url::parse(&format!("http://form/?{}", request.text)).unwrap();
        let form: HashMap<String, String> = form.query_pairs().into_owned().collect();
        self.asked.push(form.clone());
        let refused = || Reply::json(400, json!({"error": "invalid_grant", "error_description": "no\u{1b}[2J"}));
        let is_fine = match form["grant_type"].as_str() {
            "authorization_code" => self.codes.remove(&form["code"]).is_some_and(|began| {
                let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&form["code_verifier"]));
                ["redirect_uri", "client_id", "resource"].iter().all(|name| began[*name] == form[*name])
                    && began["code_challenge"] == challenge
            }),
            "refresh_token" => self.refresh.remove(&form["refresh_token"]),
            _ => false,
        };
        if !is_fine {
            return refused();
        }
        self.made += 1;
        let (access, refresh) = (format!("access-{}", self.made), format!("refresh-{}", self.made));
        self.valid.insert(access.clone());
        self.refresh.insert(refresh.clone());
        let answer =
            json!({"access_token": access, "token_type": "Bearer", "expires_in": 3600, "refresh_token": refresh});
        Reply::json(200, answer)
    }
}

/// Opens an address in the browser; returns the whole answer.
pub fn browse(place: &Url) -> String {
    let mut socket = TcpStream::connect((place.host_str().unwrap(), place.port().unwrap())).unwrap();
    let target = place.as_str().split_once(&place.origin().ascii_serialization()).unwrap().1;
    let request = format!("GET {target} HTTP/1.1\r\nHost: {}\r\n\r\n", place.host_str().unwrap());
    socket.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    answer
}
