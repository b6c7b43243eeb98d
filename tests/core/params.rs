//! Parameters, arguments and the toolbox.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use steersman_base::error::BuildError;
use steersman_base::message::Arguments;
use steersman_core::tool::{
    Args, Choices, Concurrency, FnTool, FoundTool, OnCancel, Parameters, RawTool, Tool, ToolContext, ToolError, Toolbox,
};

fn everything() -> Parameters {
    Parameters::build(|p| {
        p.required_string("path", "The file.");
        p.optional_integer("offset", "First line.");
        p.required_number("ratio", "A share.");
        p.optional_boolean("deep", "Whether to descend.");
        p.required_enum("mode", "How.", Choices::new(["fast", "slow"]).unwrap());
        p.optional_string_array("names", "Which.");
    })
}

fn object(value: Value) -> Arguments {
    match value {
        Value::Object(map) => Arguments::Object(map),
        other => panic!("not an object: {other}"),
    }
}

#[test]
fn the_schema_keeps_the_order_of_declaration_and_closes_the_object() {
    insta::assert_snapshot!(everything().to_schema().to_string(), @r#"{"type":"object","properties":{"path":{"type":"string","description":"The file."},"offset":{"type":"integer","description":"First line."},"ratio":{"type":"number","description":"A share."},"deep":{"type":"boolean","description":"Whether to descend."},"mode":{"type":"string","enum":["fast","slow"],"description":"How."},"names":{"type":"array","items":{"type":"string"},"description":"Which."}},"required":["path","ratio","mode"],"additionalProperties":false}"#);
}

#[test]
fn an_empty_set_is_still_an_object_schema() {
    let none = Parameters::default();
    assert_eq!(
        none.to_schema(),
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false})
    );
    assert!(none.validate(&Arguments::parse("")).is_ok());
}

#[test]
fn good_arguments_come_back_typed() {
    let args = everything()
        .validate(&object(json!({
            "path": "a.rs", "offset": -3, "ratio": 0.5, "deep": true, "mode": "slow", "names": ["x", "y"]
        })))
        .unwrap();
    assert_eq!(args.str("path"), "a.rs");
    assert_eq!(args.opt_int("offset"), Some(-3));
    assert!((args.number("ratio") - 0.5).abs() < f64::EPSILON);
    assert_eq!(args.opt_bool("deep"), Some(true));
    assert_eq!(args.str("mode"), "slow");
    assert_eq!(args.strings("names"), ["x", "y"]);
}

#[test]
fn every_kind_can_be_required_and_can_be_optional() {
    let choices = || Choices::new(["fast", "slow"]).unwrap();
    let required = Parameters::build(|p| {
        p.required_string("a", "").required_integer("b", "").required_number("c", "");
        p.required_boolean("d", "").required_enum("e", "", choices()).required_string_array("f", "");
    });
    let optional = Parameters::build(|p| {
        p.optional_string("a", "").optional_integer("b", "").optional_number("c", "");
        p.optional_boolean("d", "").optional_enum("e", "", choices()).optional_string_array("f", "");
    });
    let given = json!({"a": "x", "b": 1, "c": 2.5, "d": false, "e": "fast", "f": []});
    let wrong = json!({"a": 1, "b": 2.5, "c": "x", "d": "no", "e": "medium", "f": "x"});
    for parameters in [&required, &optional] {
        assert!(parameters.validate(&object(given.clone())).is_ok());
        let problems = parameters.validate(&object(wrong.clone())).unwrap_err();
        assert_eq!(problems.lines().filter(|line| line.starts_with("- ")).count(), 6, "{problems}");
    }
    let missing = required.validate(&object(json!({}))).unwrap_err();
    assert_eq!(missing.lines().filter(|line| line.contains(" is missing")).count(), 6, "{missing}");
    assert!(optional.validate(&object(json!({}))).is_ok());
}

#[test]
fn optional_arguments_may_be_left_out_and_a_whole_number_is_a_number() {
    let args = everything().validate(&object(json!({"path": "", "ratio": 3, "mode": "fast"}))).unwrap();
    assert_eq!(args.opt_int("offset"), None);
    assert_eq!(args.opt_bool("deep"), None);
    assert_eq!(args.opt_str("none"), None);
    assert!(args.strings("names").is_empty());
    assert_eq!(args.opt_number("ratio"), Some(3.0));
}

#[test]
fn the_getters_never_panic_on_a_name_that_is_not_there() {
    let args = Args::default();
    assert_eq!((args.str("x"), args.int("x"), args.bool("x")), ("", 0, false));
    assert_eq!((args.opt_number("x"), args.number("x")), (None, 0.0));
    assert!(args.strings("x").is_empty());
}

#[test]
fn the_message_lists_every_problem_and_ends_with_the_schema() {
    let message = everything()
        .validate(&object(json!({
            "offset": "3", "ratio": true, "deep": "yes", "mode": "medium", "names": ["x", 1], "colour": "red"
        })))
        .unwrap_err();
    let (problems, schema) = message.split_once("The schema is: ").unwrap();
    insta::assert_snapshot!(problems, @r#"
    invalid arguments:
    - "path" is missing; it must be a string
    - "offset" must be an integer, not the string "3"
    - "ratio" must be a number, not true
    - "deep" must be true or false, not the string "yes"
    - "mode" must be one of "fast", "slow", not the string "medium"
    - "names[1]" must be a string, not the number 1
    - "colour" is not a parameter; the parameters are path, offset, ratio, deep, mode, names
    "#);
    assert_eq!(schema, everything().to_schema().to_string());
}

#[test]
fn what_strict_modes_of_servers_write_is_taken() {
    let parameters = Parameters::build(|p| {
        p.required_string("path", "");
        p.optional_integer("limit", "");
        p.optional_string("note", "");
    });
    let args = parameters.validate(&object(json!({"path": "a", "limit": 5.0, "note": null}))).unwrap();
    assert_eq!((args.int("limit"), args.str("note")), (5, ""));
    let args = parameters.validate(&object(json!({"path": "a", "limit": null}))).unwrap();
    assert_eq!(args.opt_int("limit"), None);
    // The whole object as a text of JSON.
    let text = json!(json!({"path": "a", "limit": 7}).to_string()).to_string();
    assert_eq!(parameters.validate(&Arguments::parse(&text)).unwrap().int("limit"), 7);
    for wrong in [json!({"path": null}), json!({"path": "a", "limit": 5.5}), json!({"path": "a", "limit": "5 lines"})] {
        let said = parameters.validate(&object(wrong.clone())).unwrap_err();
        assert!(said.contains("must be"), "{wrong}: {said}");
    }
    let of_schema = Parameters::from_schema(json!({
        "type": "object", "required": ["path"],
        "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}, "to": {"type": "object", "properties": {"line": {"type": "integer"}}}}
    }));
    let args = of_schema.validate(&object(json!({"path": "a", "limit": 5.0, "to": "{\"line\": 3.0}"}))).unwrap();
    assert_eq!(args.int("limit"), 5);
    assert!(of_schema.validate(&object(json!({"path": "a", "limit": null, "to": null}))).is_ok());
}

#[test]
fn what_models_write_that_call_tools_in_tags_is_taken() {
    let given = json!({
        "path": "a.rs", "offset": "3", "ratio": "0.5", "deep": "False", "mode": "FAST", "names": "one.rs"
    });
    let args = everything().validate(&object(given)).unwrap();
    assert_eq!((args.int("offset"), args.bool("deep"), args.str("mode")), (3, false, "fast"));
    assert_eq!(args.strings("names"), ["one.rs"]);
    let args = everything()
        .validate(&object(json!({"path": "a.rs", "ratio": 1, "mode": "slow", "names": "[\"a\", \"b\"]"})))
        .unwrap();
    assert_eq!(args.strings("names"), ["a", "b"]);
}

#[test]
fn nothing_else_is_coerced() {
    let integer = Parameters::build(|p| {
        p.required_integer("n", "");
    });
    for wrong in [json!("one"), json!(1.5), json!(true), json!(null), json!([1]), json!({"n": 1}), json!(u64::MAX)] {
        assert!(integer.validate(&object(json!({"n": wrong}))).is_err(), "{wrong} passed as an integer");
    }
    for right in [json!(0), json!(i64::MIN), json!(i64::MAX)] {
        assert!(integer.validate(&object(json!({"n": right}))).is_ok());
    }
    let large = object(json!({"n": u64::MAX}));
    let said = integer.validate(&large).unwrap_err();
    assert!(said.contains(r#""n" must be an integer, not 18446744073709551615, which is too large"#), "{said}");
    let unsigned = json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}});
    assert!(Parameters::from_schema(unsigned).validate(&large).is_ok(), "a type without a sign holds it");
    let string = Parameters::build(|p| {
        p.optional_string("s", "");
    });
    for wrong in [json!(1), json!(["a"]), json!(false)] {
        assert!(string.validate(&object(json!({"s": wrong}))).is_err(), "{wrong} passed as a string");
    }
}

#[test]
fn raw_arguments_are_reported_as_no_object() {
    for text in ["[1]", "\"x\"", "null", "{\"path\": ", "{\"ratio\": 1e999}"] {
        let message = everything().validate(&Arguments::parse(text)).unwrap_err();
        assert!(message.starts_with("invalid arguments:\n- the arguments are not a JSON object\nThe schema is: {"));
    }
}

#[test]
fn arguments_that_are_nested_too_deeply_are_named_as_such_and_kept_as_text() {
    for levels in [128, 100_000] {
        let text = format!("{{\"path\": {}{}}}", "[".repeat(levels), "]".repeat(levels));
        let arguments = Arguments::parse(&text);
        assert_eq!(arguments.to_string(), text, "shown and sent as it came");
        let message = everything().validate(&arguments).unwrap_err();
        assert!(message.starts_with("invalid arguments:\n- the arguments are nested too deeply"), "{message}");
    }
    let deepest = format!("{{\"path\": {}{}}}", "[".repeat(126), "]".repeat(126));
    let arguments = Arguments::parse(&deepest);
    assert_eq!(arguments.to_string(), deepest.replace(": ", ":"));
    assert!(everything().validate(&arguments).unwrap_err().contains("\"path\""));
}

#[test]
fn a_huge_wrong_value_is_quoted_in_short() {
    let message = everything().validate(&object(json!({"mode": "é".repeat(100_000)}))).unwrap_err();
    assert!(message.len() < 2_000, "{} bytes", message.len());
}

#[test]
fn lists_say_what_they_hold_and_where_an_item_is_wrong() {
    let parameters = Parameters::build(|p| {
        p.required_string_array("names", "");
        p.optional_objects("edits", "", |each| {
            each.required_string("old", "").optional_boolean("all", "");
        });
    });
    let wrong = [
        json!({"edits": [{"old": "a"}, {"all": 1, "new": "b"}, {}]}),
        json!({"names": {"a": 1}, "edits": 3}),
        json!({"names": [["a"]], "edits": ["a"]}),
    ];
    let said = wrong.map(|given| parameters.validate(&object(given)).unwrap_err());
    insta::assert_snapshot!(said.each_ref().map(|said| said.split_once("\nThe schema").unwrap().0).join("\n"), @r#"
    invalid arguments:
    - "names" is missing; it must be a list of strings
    - "edits[1].old" is missing; it must be a string
    - "edits[1].all" must be true or false, not the number 1
    - "edits[1].new" is not a parameter; the parameters are old, all
    invalid arguments:
    - "names" must be a list of strings, not an object
    - "edits" must be a list of objects, not the number 3
    invalid arguments:
    - "names[0]" must be a string, not a list
    - "edits[0]" must be an object, not the string "a"
    "#);
}

#[test]
fn enum_values_must_be_a_list_of_strings_that_are_not_empty() {
    assert!(matches!(Choices::new(Vec::<String>::new()), Err(BuildError::Argument(_))));
    assert!(matches!(Choices::new(["a", ""]), Err(BuildError::Argument(_))));
    assert!(matches!(Choices::new(["a", "b", "a"]), Err(BuildError::Argument(_))));
    assert_eq!(Choices::new(["a", "b"]).unwrap().values(), ["a", "b"]);
}

#[test]
fn a_name_declared_again_is_replaced_at_its_place() {
    let parameters = Parameters::build(|p| {
        p.required_string("a", "old").required_string("b", "").optional_integer("a", "new");
    });
    assert_eq!(
        parameters.to_schema()["properties"].to_string(),
        r#"{"a":{"type":"integer","description":"new"},"b":{"type":"string","description":""}}"#
    );
    assert_eq!(parameters.to_schema()["required"], json!(["b"]));
}

fn echo(name: &str) -> Arc<dyn Tool> {
    let parameters = Parameters::build(|p| {
        p.required_string("text", "");
    });
    Arc::new(FnTool::new(name, "Echoes.", parameters, |args, _| async move { Ok(args.str("text").to_owned()) }))
}

struct Raw;

impl RawTool for Raw {
    fn name(&self) -> &'static str {
        "raw"
    }

    fn description(&self) -> &'static str {
        "Takes anything."
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    fn call<'a>(&'a self, arguments: &'a Arguments, _: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        async move { Ok(arguments.to_string()) }.boxed()
    }
}

#[tokio::test]
async fn a_closure_is_a_tool() {
    let tool = echo("echo");
    let args = tool.spec().parameters.validate(&object(json!({"text": "hi"}))).unwrap();
    assert_eq!(tool.execute(args, &ToolContext::detached()).await, Ok("hi".to_owned()));
    assert_eq!((tool.spec().concurrency, tool.spec().on_cancel), (Concurrency::Exclusive, OnCancel::Drop));

    let tool = FnTool::new("t", "", Parameters::default(), |_, _| async { Err::<String, _>(ToolError::failed("no")) })
        .concurrency(Concurrency::Parallel)
        .on_cancel(OnCancel::Wait);
    assert_eq!((tool.spec().concurrency, tool.spec().on_cancel), (Concurrency::Parallel, OnCancel::Wait));
}

#[test]
fn a_toolbox_keeps_the_order_and_offers_raw_tools_last() {
    let mut toolbox = Toolbox::new();
    toolbox.add(echo("b")).unwrap();
    toolbox.add_raw(Arc::new(Raw)).unwrap();
    toolbox.add(echo("a")).unwrap();
    let names: Vec<String> = toolbox.schemas().iter().map(|schema| schema.name.clone()).collect();
    assert_eq!(names, ["b", "a", "raw"]);
    assert_eq!(toolbox.tools().len(), 2);
    assert!(matches!(toolbox.find("a"), Some(FoundTool::Tool(tool)) if tool.name() == "a"));
    assert!(matches!(toolbox.find("raw"), Some(FoundTool::Raw(_))));
    assert!(toolbox.find("A").is_none());
}

#[test]
fn a_toolbox_refuses_a_name_twice_over_both_kinds() {
    let mut toolbox = Toolbox::new();
    toolbox.add_raw(Arc::new(Raw)).unwrap();
    assert!(matches!(toolbox.add(echo("raw")), Err(BuildError::Argument(_))));
    assert!(matches!(toolbox.add_raw(Arc::new(Raw)), Err(BuildError::Argument(_))));
    assert!(matches!(toolbox.add(echo("")), Err(BuildError::Argument(_))));
    assert_eq!(toolbox.names(), ["raw"]);
}
