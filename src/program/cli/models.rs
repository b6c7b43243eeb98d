//! `steersman models`: the models of the configured server and of every other server that can be switched to.
//!
//! All servers are asked at the same time, each for a few seconds at most; a failure is one line.

use std::fmt::Write as _;
use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::program::cli::args::{Flags, ModelsArgs};
use crate::program::cli::exit::{Exit, print, say};
use crate::program::cli::first_start::look;
use crate::program::cli::load::{Start, load};
use crate::program::cli::project::FrontEnd;
use crate::program::cli::sources::{of_server, registry_or_bundled, sources};
use crate::program::cli::{keys, with_runtime};
use crate::program::config::ModelSource;
use crate::program::demo;
use steersman_base::limits;
use steersman_base::price::Price;
use steersman_base::text::visible_line;
use steersman_core::approval::Answerer;
use steersman_core::provider::Registry;
use steersman_provider::{Http, ModelServer, OfferedModel, offered_models};

pub(super) fn run(flags: &Flags, args: &ModelsArgs) -> Exit {
    match load(flags, FrontEnd::Exec, Answerer::Nobody) {
        Ok(start) => Exit::from_result(write(&start, args), Exit::Failed),
        Err(error) => Exit::from_result(Err(error.to_string()), Exit::Usage),
    }
}

fn write(start: &Start, args: &ModelsArgs) -> Result<Exit, String> {
    let mut notes = start.places.notes.clone();
    let lists = with_runtime(async { Ok(lists(start, &mut notes).await) })?;
    for note in &notes {
        say(note);
    }
    let text = if args.json { in_json(&lists) } else { describe(&lists) };
    print(&text);
    let served = lists.iter().find(|list| list.current).or(lists.first());
    Ok(if served.is_some_and(|list| list.models.is_ok()) { Exit::Done } else { Exit::Failed })
}

/// The models of one server.
struct ServerModels {
    name: String,
    server: String,
    provider: String,
    current: bool,
    models: Result<Vec<OfferedModel>, String>,
}

async fn lists(start: &Start, notes: &mut Vec<String>) -> Vec<ServerModels> {
    let config = &start.config;
    let registry = registry_or_bundled(config, start.places.config.as_deref(), notes);
    let http = config.http();
    let found = look(&http, &config.local_ports).await;
    let mut lists = Vec::new();
    let current = match &config.model {
        ModelSource::Embedded { .. } => {
            lists.push(embedded(true));
            None
        }
        ModelSource::Server(server) => {
            notes.extend(keys::warning(&server.key));
            Some(of_server(&config.source, server))
        }
    };
    let name = current.as_ref().map(|source| source.name.clone());
    let all = sources(config, current, &found);
    let asked = all.iter().map(|source| list(&http, &registry, source, Some(&source.name) == name.as_ref()));
    lists.extend(join_all(asked).await);
    if !lists.iter().any(|list| list.name == demo::SOURCE) {
        lists.push(embedded(false));
    }
    lists
}

fn embedded(current: bool) -> ServerModels {
    let row = OfferedModel {
        name: demo::MODEL.to_owned(),
        context_window: Some(limits::DEMO_CONTEXT),
        ..OfferedModel::default()
    };
    let (server, provider) = ("inside this program".to_owned(), demo::SOURCE.to_owned());
    ServerModels { name: demo::SOURCE.to_owned(), server, provider, current, models: Ok(vec![row]) }
}

async fn list(http: &Http, registry: &Arc<Registry>, source: &ModelServer, current: bool) -> ServerModels {
    let models = match source.unlocked().await {
        Ok(transport) => offered_models(http, &transport).await.map_err(|error| error.to_string()),
        Err(sentence) => Err(sentence),
    };
    let transport = &source.transport;
    let row = |offered: OfferedModel| offered.with_known(registry, transport);
    ServerModels {
        name: source.name.clone(),
        server: transport.api_base.as_deref().map(without_user).unwrap_or_default(),
        provider: transport.provider.clone().unwrap_or_default(),
        current,
        models: models.map(|models| models.into_iter().map(row).collect()),
    }
}

/// Returns an address without user and password.
fn without_user(base_url: &str) -> String {
    let Ok(mut url) = reqwest::Url::parse(base_url) else { return String::new() };
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.to_string().trim_end_matches('/').to_owned()
}

fn describe(lists: &[ServerModels]) -> String {
    let mut text = String::new();
    for list in lists {
        let ServerModels { name, server, current, .. } = list;
        let mark = if *current { " · answers now" } else { "" };
        let _ = write!(text, "{} ({}){mark}", visible_line(name), visible_line(server));
        match &list.models {
            Err(reason) => {
                let _ = writeln!(text, ": no list: {}", visible_line(reason));
            }
            Ok(models) if models.is_empty() => text.push_str(": no models\n"),
            Ok(models) => {
                text.push('\n');
                for line in aligned(models) {
                    let _ = writeln!(text, "  {line}");
                }
            }
        }
    }
    text
}

/// Writes models in aligned columns.
fn aligned(models: &[OfferedModel]) -> Vec<String> {
    let rows: Vec<[String; 3]> = models
        .iter()
        .map(|row| {
            let window = row.context_window.map(|tokens| format!("{} tokens", grouped(tokens))).unwrap_or_default();
            let price = row.price.map(in_dollars).unwrap_or_default();
            [visible_line(&row.name).into_owned(), window, price]
        })
        .collect();
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let line = |[name, window, price]: &[String; 3]| {
        let gap = " ".repeat(first.saturating_sub(name.width()));
        let before = " ".repeat(second.saturating_sub(window.width()));
        format!("{name}{gap}  {before}{window}  {price}").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

fn in_dollars(price: Price) -> String {
    let [input, cached, output] = price.dollars();
    let cached = if (cached - input).abs() < f64::EPSILON { String::new() } else { format!(" (cached {cached})") };
    format!("US$ {input}{cached} in, {output} out per million")
}

/// Writes a number with its digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

fn in_json(lists: &[ServerModels]) -> String {
    let row = |row: &OfferedModel| {
        let price = row.price.map(|price| {
            let [input, cached, output] = price.dollars();
            json!({ "input": input, "cached": cached, "output": output })
        });
        json!({ "name": row.name, "context_window": row.context_window, "price": price })
    };
    let each = |list: &ServerModels| {
        let models = list.models.as_ref().map(|models| models.iter().map(row).collect::<Vec<Value>>());
        json!({
            "source": list.name,
            "provider": list.provider,
            "server": list.server,
            "current": list.current,
            "models": models.as_ref().ok(),
            "error": list.models.as_ref().err(),
        })
    };
    let all: Vec<Value> = lists.iter().map(each).collect();
    format!("{:#}\n", Value::Array(all))
}
