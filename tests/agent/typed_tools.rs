//! Stories of tools whose arguments are a Rust type, and of `?` in a tool.

use std::io;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use steersman_base::error::{Cancelled, ProviderError, RunError};
use steersman_base::message::Arguments;
use steersman_core::approval::{
    Answer, Answerer, Approvals, CustomOperation, Grant, Mode, Operation, Policy, Unanswered,
};
use steersman_core::provider::Played;
use steersman_core::tool::{FnTool, Parameters, Tool, ToolContext, ToolError, typed};

use crate::support::doubles::{Rig, run};

/// How a trip is booked.
#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
struct Trip {
    /// Where it goes.
    to: Place,
    /// How many nights.
    #[schemars(range(min = 1, max = 30))]
    nights: u32,
    class: Option<Class>,
    #[serde(default)]
    stops: Vec<Place>,
    pay: Payment,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct Place {
    #[schemars(length(min = 1))]
    city: String,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Class {
    Second,
    First,
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(tag = "by", rename_all = "snake_case")]
enum Payment {
    Cash,
    Card { number: String },
}

fn check(arguments: &serde_json::Value) -> Result<Trip, String> {
    let args = Parameters::of::<Trip>().validate(&Arguments::parse(&arguments.to_string()))?;
    args.read().map_err(|error| error.to_string())
}

fn problems(arguments: &serde_json::Value) -> Vec<String> {
    let message = check(arguments).unwrap_err();
    message.lines().filter_map(|line| line.strip_prefix("- ")).map(str::to_owned).collect()
}

#[test]
fn the_schema_of_a_type_has_its_comments_and_takes_nothing_else() {
    insta::assert_snapshot!(serde_json::to_string_pretty(&Parameters::of::<Trip>().to_schema()).unwrap());
}

#[test]
fn nested_objects_enums_and_lists_come_back_as_the_type() {
    let given = json!({
        "to": {"city": "Oslo"}, "nights": 3, "class": "first", "stops": [{"city": "Bergen"}],
        "pay": {"by": "card", "number": "1234"}
    });
    let place = |city: &str| Place { city: city.to_owned() };
    let trip = Trip {
        to: place("Oslo"),
        nights: 3,
        class: Some(Class::First),
        stops: vec![place("Bergen")],
        pay: Payment::Card { number: "1234".to_owned() },
    };
    assert_eq!(check(&given), Ok(trip));
    let least = json!({"to": {"city": "Oslo"}, "nights": 1, "class": null, "pay": {"by": "cash"}});
    assert_eq!(check(&least).unwrap().class, None);
}

#[test]
fn every_problem_is_named_with_its_place_and_nothing_is_coerced() {
    let wrong = json!({
        "to": {"city": "", "land": "x"}, "nights": "3", "class": "third", "stops": [{"city": "a"}, {"city": 7}],
        "pay": {"by": "card"}, "wings": 2
    });
    insta::assert_snapshot!(problems(&wrong).join("\n"));
    let wrong = [
        json!({"nights": 31, "to": {"city": "a"}, "pay": {"by": "cash"}}),
        json!({"nights": 1.5, "to": {"city": "a"}, "pay": {"by": "cash"}}),
        json!({"nights": 1, "to": "Oslo", "pay": {"by": "cheque"}}),
        json!({}),
    ];
    insta::assert_snapshot!(wrong.iter().map(|wrong| problems(wrong).join("\n")).collect::<Vec<_>>().join("\n\n"));
    let message = check(&json!({})).unwrap_err();
    assert!(message.starts_with("invalid arguments:\n") && message.contains("\nThe schema is: {\""), "{message}");
}

/// A list of lists: a type that refers to itself.
#[derive(Deserialize, JsonSchema)]
struct Tree {
    #[expect(dead_code, reason = "only its schema counts")]
    branches: Vec<Tree>,
}

#[test]
fn a_type_that_holds_itself_is_checked_at_every_depth() {
    let parameters = Parameters::of::<Tree>();
    let check = |text: &str| parameters.validate(&Arguments::parse(text)).map(drop);
    assert_eq!(check(r#"{"branches": [{"branches": []}]}"#), Ok(()));
    let refused = check(r#"{"branches": [{"branches": [{"leaf": 1}]}]}"#).unwrap_err();
    assert!(refused.contains(r#"- "branches[0].branches[0].branches" is missing"#), "{refused}");
    assert!(refused.contains(r#"- "branches[0].branches[0].leaf" is not a parameter"#), "{refused}");
}

#[test]
fn members_that_alternatives_and_references_share_are_known_to_the_whole() {
    let parameters = Parameters::from_schema(json!({
        "type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"], "$ref": "#/$defs/Size",
        "$defs": {"Size": {"type": "object", "properties": {"size": {"type": "integer", "exclusiveMinimum": 0}}}}
    }));
    let check = |text: &str| parameters.validate(&Arguments::parse(text)).map(drop);
    assert_eq!(check(r#"{"kind": "a", "size": 1}"#), Ok(()));
    let refused = check(r#"{"kind": "a", "size": 0, "more": 1}"#).unwrap_err();
    assert!(refused.contains(r#"- "size" must be an integer, above 0, not the number 0"#), "{refused}");
    assert!(refused.contains(r#"- "more" is not a parameter"#), "{refused}");
}

#[tokio::test]
async fn a_typed_tool_works_in_a_turn_and_its_refusals_reach_the_model() {
    let book = typed("book", "Books a trip.", |trip: Trip, _| async move {
        let nights = trip.nights.checked_mul(100).ok_or_else(|| io::Error::other("too many nights"))?;
        Ok(format!("{} {nights}", trip.to.city))
    });
    let good = r#"{"to": {"city": "Oslo"}, "nights": 2, "pay": {"by": "cash"}}"#;
    let rig =
        Rig::new([Played::calls(&[("c1", "book", good), ("c2", "book", r#"{"nights": 0}"#)]), Played::text("Done.")]);
    let tools: [Arc<dyn Tool>; 1] = [Arc::new(book)];
    run(rig.agent(tools).await, "Book.").answered().await;
    let results: Vec<String> = rig.event_lines().into_iter().filter(|line| line.starts_with("result")).collect();
    assert_eq!(results[0], "result c1: Oslo 200");
    assert!(results[1].starts_with("result c2: Error: invalid arguments:\n- "), "{results:?}");
    assert_eq!(rig.last_request().tool_names(), ["book"]);
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Even {
    #[serde(deserialize_with = "even")]
    number: u8,
}

fn even<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    let number = u8::deserialize(deserializer)?;
    if number % 2 == 0 { Ok(number) } else { Err(serde::de::Error::custom("the number is odd")) }
}

#[tokio::test]
async fn what_only_the_type_refuses_is_said_in_the_same_words() {
    let tool = typed("even", "Takes even numbers.", |even: Even, _| async move { Ok(even.number.to_string()) });
    let args = tool.spec().parameters.validate(&Arguments::parse(r#"{"number": 3}"#)).unwrap();
    let refused = tool.execute(args, &ToolContext::detached()).await.unwrap_err();
    assert!(refused.to_string().starts_with("invalid arguments:\n- the number is odd\nThe schema is: "), "{refused}");
    let too_large = tool.spec().parameters.validate(&Arguments::parse(r#"{"number": 300}"#)).unwrap_err();
    assert!(too_large.contains("at most 255"), "{too_large}");
}

#[test]
fn any_error_becomes_an_observation_and_a_stop_stays_a_stop() {
    #[derive(Debug, thiserror::Error)]
    #[error("no forecast")]
    struct NoForecast(#[source] io::Error);
    let error = ToolError::from(NoForecast(io::Error::other("the station is silent")));
    assert_eq!(error, ToolError::failed("no forecast: the station is silent"));
    let stops = [
        ToolError::from(Cancelled),
        ToolError::from(ProviderError::from(Cancelled)),
        ToolError::from(RunError::from(Cancelled)),
        ToolError::from(RunError::from(ProviderError::from(Cancelled))),
    ];
    assert!(stops.iter().all(|error| *error == ToolError::Cancelled(Cancelled)), "{stops:?}");
}

fn mailer() -> FnTool {
    typed("mail", "Sends a mail.", |trip: Place, context| async move {
        context.approve(CustomOperation::new("mail", "send a mail", format!("to {}", trip.city))).await?;
        Ok("sent")
    })
}

async fn mail(approvals: &Arc<Approvals>, city: &str) -> Result<String, ToolError> {
    let tool = mailer();
    let args = tool.spec().parameters.validate(&Arguments::parse(&json!({"city": city}).to_string())).unwrap();
    tool.execute(args, &ToolContext::with_approvals(Arc::clone(approvals))).await
}

fn desk(answerer: Answerer, mode: Mode) -> Arc<Approvals> {
    Arc::new(Approvals::new(Policy { answerer, ..Policy::default() }, mode))
}

#[tokio::test]
async fn a_tool_of_a_host_asks_with_an_act_of_its_own() {
    let approvals = desk(Answerer::User, Mode::Ask);
    let (outcome, ()) = tokio::join!(mail(&approvals, "Oslo"), async {
        let open = approvals.open();
        let operation = open[0].subject.clone().describe();
        assert_eq!(operation, ("Let this tool do this? mail, send a mail".to_owned(), Some("to Oslo".to_owned())));
        assert_eq!(approvals.try_answer(open[0].id, Answer::Always), Err(Unanswered::NotKept));
        approvals.try_answer(open[0].id, Answer::Session).unwrap();
    });
    assert_eq!(outcome, Ok("sent".to_owned()));
    let grant = Grant::Action { tool: "mail".to_owned(), action: "send a mail".to_owned() };
    assert_eq!(approvals.grants(), [grant]);
    assert_eq!(mail(&approvals, "Bergen").await, Ok("sent".to_owned()), "it is allowed for the session");
    let other: Operation = CustomOperation::new("mail", "delete a mail", "all").into();
    assert!(
        !approvals.runs_without_question(&ToolContext::detached().asker, &other),
        "another action of the same tool"
    );
}

#[tokio::test]
async fn an_act_of_a_host_runs_unasked_only_where_nothing_is_asked() {
    for (answerer, mode) in
        [(Answerer::Nobody, Mode::Ask), (Answerer::User, Mode::ReadOnly), (Answerer::Yes, Mode::ReadOnly)]
    {
        assert!(matches!(mail(&desk(answerer, mode), "Oslo").await, Err(ToolError::Failed(_))), "{mode:?}");
    }
    assert!(mail(&desk(Answerer::User, Mode::AutoWithoutSandbox), "Oslo").await.is_ok());
    assert!(mail(&desk(Answerer::Yes, Mode::Ask), "Oslo").await.is_ok());
}
