//! What a round costs: told by the server, or out of prices that the user wrote.

use steersman_base::event::Usage;
use steersman_base::price::{Money, Price, Prices, dollars};

fn prices() -> Prices {
    let price = |input, cached, output| Price::new(input, cached, output).unwrap();
    [
        ("big".to_owned(), price(2.0, Some(0.5), 10.0)),
        ("small".to_owned(), price(0.0375, None, 0.15)),
        ("free".to_owned(), price(0.0, None, 0.0)),
    ]
    .into_iter()
    .collect()
}

fn used(model: &str, input: u64, cached: u64, output: u64) -> Usage {
    let model = Some(model.to_owned());
    Usage { input: Some(input), cached: Some(cached), output: Some(output), model, ..Usage::default() }
}

#[test]
fn a_round_costs_its_tokens_at_the_prices_of_its_model() {
    // 1,000 at 2 $, 4,000 at 0.50 $ and 100 at 10 $ per million.
    assert_eq!(prices().cost_nanos(&used("big", 1_000, 4_000, 100)), Some(2_000_000 + 2_000_000 + 1_000_000));
    let written = Usage { cache_creation: Some(500), ..used("big", 0, 0, 0) };
    assert_eq!(prices().cost_nanos(&written), Some(1_000_000), "what goes into a cache costs what input does");
    assert_eq!(prices().cost_nanos(&used("small", 0, 2, 0)), Some(75), "without a price of their own, as input");
    assert_eq!(prices().cost_nanos(&used("free", 9, 9, 9)), Some(0));
}

#[test]
fn what_the_server_says_goes_first_also_without_a_price() {
    let told = Usage { cost_nanos: Some(7), ..used("big", 1_000, 0, 0) };
    assert_eq!(prices().cost_nanos(&told), Some(7));
    assert_eq!(Prices::default().cost_nanos(&told), Some(7));
}

#[test]
fn a_model_without_a_price_or_without_a_name_has_no_cost() {
    assert_eq!(prices().cost_nanos(&used("bigger", 1, 1, 1)), None);
    assert_eq!(prices().cost_nanos(&Usage { model: None, ..used("big", 1, 1, 1) }), None);
    assert_eq!(prices().cost_nanos(&Usage { model: Some("big".to_owned()), ..Usage::default() }), None, "nothing told");
}

#[test]
fn a_date_behind_a_name_is_the_same_model_and_nothing_else_is() {
    for dated in ["big-2025-12-11", "big-20251211", "big-0613"] {
        assert!(prices().cost_nanos(&used(dated, 1, 1, 1)).is_some(), "{dated}");
    }
    for other in ["big-mini", "big-mini-2025-12-11", "big-2", "big:free", "bigger-2025", "big-", "vendor/big"] {
        assert_eq!(prices().cost_nanos(&used(other, 1, 1, 1)), None, "{other}");
    }
}

#[test]
fn a_price_is_a_number_from_0() {
    for wrong in [-1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Price::new(wrong, None, 1.0), None);
        assert_eq!(Price::new(1.0, Some(wrong), 1.0), None);
        assert_eq!(Price::new(1.0, None, wrong), None);
    }
}

#[test]
fn absurd_counts_break_nothing() {
    let dear = ("dear".to_owned(), Price::new(1e30, None, 1e30).unwrap());
    let prices: Prices = [dear].into_iter().collect();
    assert_eq!(prices.cost_nanos(&used("dear", u64::MAX, u64::MAX, u64::MAX)), Some(u64::MAX));
}

#[test]
fn an_amount_of_dollars_is_read_and_written_as_people_do() {
    let read = |text: &str| text.parse::<Money>();
    for (text, nanos, shown) in [
        ("2", 2_000_000_000, "$2.00"),
        ("0.50", 500_000_000, "$0.50"),
        ("$12.345", 12_345_000_000, "$12.35"),
        ("0.0042", 4_200_000, "$0.0042"),
        ("0.00001", 10_000, "<$0.0001"),
    ] {
        let money = read(text).unwrap();
        assert_eq!((money.nanos(), money.to_string().as_str()), (nanos, shown), "{text}");
    }
    for text in ["", "0", "0.0", "-1", "inf", "nan", "1e3", "two", "1,5", "$", "0.0000000001", "+1"] {
        assert!(read(text).is_err(), "{text:?}");
    }
    assert_eq!(read("99999999999999999999999").unwrap().nanos(), u64::MAX);
    assert_eq!(dollars(0), "$0.00");
}
