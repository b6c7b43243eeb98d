//! The tool `calculator`.

use proptest::prelude::*;
use steersman_base::limits;
use steersman_base::message::Arguments;
use steersman_core::tool::{Concurrency, Tool, ToolContext, ToolError};
use steersman_tools::Calculator;

fn value(expression: &str) -> String {
    Calculator::evaluate(expression).unwrap_or_else(|fault| panic!("{expression}: {fault}"))
}

fn fault(expression: &str) -> String {
    match Calculator::evaluate(expression) {
        Ok(value) => panic!("{expression} gave {value}"),
        Err(fault) => fault,
    }
}

#[test]
fn operators_bind_as_in_mathematics() {
    let table = [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("10 - 4 - 3", "3"),
        ("100 / 10 / 5", "2"),
        ("2 ^ 3 ^ 2", "512"),
        ("2 ** 3 ** 2", "512"),
        ("-2 ^ 2", "-4"),
        ("(-2) ^ 2", "4"),
        ("2 ^ -1", "0.5"),
        ("2 ^ -1 + 1", "1.5"),
        ("-3 * -2", "6"),
        ("--3", "3"),
        ("+-+3", "-3"),
        ("2 * -3 ^ 2", "-18"),
        ("1 - -1", "2"),
        ("7 % 3 * 2", "2"),
        ("6 × 7 ÷ 2 − 1", "20"),
        ("2^2*3", "12"),
    ];
    for (expression, result) in table {
        assert_eq!(value(expression), result, "{expression}");
    }
}

#[test]
fn whole_numbers_are_exact() {
    let table = [
        ("9007199254740993 + 0", "9007199254740993"),
        ("2 ^ 100", "1267650600228229401496703205376"),
        ("123456789 * 987654321 * 1000000007", "121932631966163686788446883"),
        ("10 ^ 30 / 10 ^ 28", "100"),
        ("10 ^ 20 % 7", "2"),
        ("-7 % 3", "2"),
        ("7 % -3", "-2"),
        ("-6 % 3", "0"),
        ("1_000_000 * 1_000", "1000000000"),
        ("0 ^ 0", "1"),
        ("(-1) ^ 99999999999", "-1"),
        ("170141183460469231731687303715884105727", "170141183460469231731687303715884105727"),
        ("abs(-5) + max(1, 9, 3) - min(4, 2)", "12"),
        ("floor(-2.5)", "-3"),
        ("ceil(2.1) * 10 ^ 20", "300000000000000000000"),
    ];
    for (expression, result) in table {
        assert_eq!(value(expression), result, "{expression}");
    }
}

#[test]
fn other_numbers_have_fifteen_digits() {
    let table = [
        ("0.1 + 0.2", "0.3"),
        ("7 / 2", "3.5"),
        ("1 / 3", "0.333333333333333"),
        ("1.5 * 2", "3"),
        ("2e3 + .5 + 1.", "2001.5"),
        ("1e-3", "0.001"),
        ("1.5E+2", "150"),
        ("1e300 * 10", "1e301"),
        ("1e-10", "1e-10"),
        ("10 ^ 40", "1e40"),
        ("5.5 % 2", "1.5"),
        ("-5.5 % 2", "0.5"),
        ("-0.0", "0"),
        ("2 ^ 0.5", "1.4142135623731"),
        ("123456789012345.678", "123456789012346"),
    ];
    for (expression, result) in table {
        assert_eq!(value(expression), result, "{expression}");
    }
}

#[test]
fn functions_and_constants_are_known_in_any_case() {
    let table = [
        ("sqrt(16)", "4"),
        ("cbrt(27)", "3"),
        ("round(2.5)", "3"),
        ("round(-2.5)", "-3"),
        ("round(3.14159, 2)", "3.14"),
        ("round(12, 3)", "12"),
        ("trunc(-2.9)", "-2"),
        ("sign(-0.1) + sign(0) + sign(7)", "0"),
        ("ln(e)", "1"),
        ("log(1000)", "3"),
        ("log(8, 2)", "3"),
        ("log2(1024)", "10"),
        ("log10(0.01)", "-2"),
        ("exp(0)", "1"),
        ("sin(0) + cos(0) + tan(0)", "1"),
        ("4 * atan(1) - PI", "0"),
        ("Sqrt(2) ^ 2", "2"),
        ("tau / pi", "2"),
        ("asin(1) - acos(0)", "0"),
        ("max(1, 2.5)", "2.5"),
        ("min(3)", "3"),
        ("sqrt(max(min(9, 16), 4) + 0)", "3"),
    ];
    for (expression, result) in table {
        assert_eq!(value(expression), result, "{expression}");
    }
}

#[test]
fn faults_are_named_with_their_place() {
    let table = [
        ("", "a number is missing at character 1"),
        ("1 / 0", "division by zero at character 3"),
        ("1 % (2 - 2)", "division by zero at character 3"),
        ("0 ^ -1", "division by zero at character 3"),
        ("1 / 0.0", "division by zero at character 3"),
        ("1 +", "a number is missing at character 4"),
        ("1 + * 2", "a number is missing at character 5"),
        ("(1 + 2", "a ) is missing at character 7"),
        ("1 + 2)", "an operator is missing at character 6"),
        ("2 pi", "an operator is missing at character 3"),
        ("2(3)", "an operator is missing at character 2"),
        ("2e", "an operator is missing at character 2"),
        ("1.2.3", "no number, or one that is too large, at character 1"),
        ("1,000 + 1", "a comma outside of a function (no thousands separators) at character 2"),
        ("(1,000)", "a ) is missing at character 3"),
        ("x + 1", "no constant is called \"x\" (functions take parentheses) at character 1"),
        ("1 + foo(2)", "no function of this name with so many arguments at character 5"),
        ("sqrt 4", "no constant is called \"sqrt\" (functions take parentheses) at character 1"),
        ("sqrt(1, 2)", "no function of this name with so many arguments at character 1"),
        ("max()", "no function of this name with so many arguments at character 1"),
        ("round(1.5, 99)", "round takes 0 to 15 decimals at character 1"),
        ("sqrt(-1)", "the result is not a finite number at character 1"),
        ("ln(0)", "the result is not a finite number at character 1"),
        ("asin(2)", "the result is not a finite number at character 1"),
        ("log(2, 1)", "the result is not a finite number at character 1"),
        ("1e308 * 10", "the result is not a finite number at character 7"),
        ("10 ** 10 ** 10", "the result is not a finite number at character 5"),
        ("(-8) ^ 0.5", "the result is not a finite number at character 6"),
        ("1e999", "no number, or one that is too large, at character 1"),
        ("1 = 1", "an operator is missing at character 3"),
        ("ä + 1", "a number is missing at character 1"),
        (".", "no number, or one that is too large, at character 1"),
        ("max(1,)", "a number is missing at character 7"),
    ];
    for (expression, message) in table {
        assert_eq!(fault(expression), message, "{expression}");
    }
}

#[test]
fn length_and_depth_are_limited() {
    let long = "1+".repeat(limits::EXPRESSION_CHARS);
    assert_eq!(fault(&long), "the expression is longer than 1000 characters");
    for unit in ["(", "-", "2^", "sqrt(", "1+(", "2^-"] {
        let deep = unit.repeat(limits::EXPRESSION_CHARS / unit.len());
        assert!(fault(&deep).starts_with("nested deeper than 100 levels"), "{unit}");
    }
    assert_eq!(value(&format!("{}1{}", "(".repeat(90), ")".repeat(90))), "1");
    // Neighbours are no nesting.
    assert_eq!(value(&format!("{}1", "(1)+".repeat(200))), "201");
}

#[tokio::test]
async fn the_tool_answers_or_fails_with_the_fault() {
    let tool = Calculator::new();
    assert_eq!(tool.spec().concurrency, Concurrency::Parallel);
    let run = async |expression: &str| {
        let text = serde_json::json!({"expression": expression}).to_string();
        let args = tool.spec().parameters.validate(&Arguments::parse(&text)).unwrap();
        tool.execute(args, &ToolContext::detached()).await
    };
    assert_eq!(run("6 * 7").await, Ok("42".to_owned()));
    assert_eq!(run("6 /").await, Err(ToolError::failed("a number is missing at character 4")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn no_input_panics(text in any::<String>()) {
        let _ = Calculator::evaluate(&text);
    }

    #[test]
    fn no_expression_panics_and_each_answer_is_a_finite_number(parts in proptest::collection::vec(
        proptest::sample::select(vec![
            "1", "2", "0", "7.5", "1e308", "170141183460469231731687303715884105727", "-", "+", "*", "/", "%", "^", "**",
            "(", ")", ",", "sqrt(", "max(", "round(", "log(", "abs(", "floor(", "tan(", "sign(", "pi", "e", " ", ".", "_",
        ]), 0..14))
    {
        if let Ok(text) = Calculator::evaluate(&parts.concat()) {
            prop_assert!(text.parse::<f64>().is_ok_and(f64::is_finite), "{text}");
        }
    }

    #[test]
    fn whole_arithmetic_agrees_with_the_machine(a in -1_000_000_i64..1_000_000, b in -1_000_000_i64..1_000_000, c in 1_i64..1000) {
        prop_assert_eq!(value(&format!("{a} + {b} * {c}")), (a + b * c).to_string());
        prop_assert_eq!(value(&format!("({a} - {b}) % {c}")), (a - b).rem_euclid(c).to_string());
        prop_assert_eq!(value(&format!("{a} * {c} / {c}")), a.to_string());
    }
}
