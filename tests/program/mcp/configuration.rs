//! The section `[mcp.NAME]`: how a server is reached, what it gets, what is said about a section that cannot be used.

use std::path::Path;
use std::time::Duration;

use secrecy::ExposeSecret as _;
use steersman::program::config::{Environment, parse};
use steersman_core::tool::Traits;
use steersman_extensions::mcp::catalog::Hints;
use steersman_extensions::mcp::definition::{Reached, ServerDefinition};

fn environment() -> Environment {
    [("HOME", "/home/ann"), ("TOKEN", "token-of-ann"), ("SECRET", "secret-of-ann"), ("EMPTY", "")].into_iter().collect()
}

/// Makes the definition of the only server of a configuration.
fn definition(text: &str) -> Result<ServerDefinition, String> {
    let servers = parse(text).map_err(|error| error.to_string())?.mcp.unwrap_or_default();
    let (name, section) = servers.iter().next().ok_or("no server")?;
    section.definition(name, "config.toml", &environment(), Path::new("/work"))
}

#[test]
fn a_process_gets_its_words_its_variables_and_its_directory() {
    let server = definition(
        "[mcp.files]\ncommand = \"${HOME}/bin/files\"\nargs = [\"--at\", \"${EMPTY:-/tmp}\"]\nenv = { A = \"${TOKEN}\" }\n\
         pass_env = [\"SECRET\"]\ncwd = \"sub\"\nstart_timeout = 7\ncall_timeout = 9\negress = false\n\
         enabled_tools = [\"get_*\"]\ndisabled_tools = [\"get_all\"]\non_main_agent = false\n",
    )
    .unwrap();
    let Reached::Process(process) = &server.reached else { panic!("{server:?}") };
    assert_eq!(
        (process.command.as_str(), &process.args[..]),
        ("/home/ann/bin/files", &["--at", "/tmp"].map(String::from)[..])
    );
    let variables: Vec<_> =
        process.environment.iter().map(|(name, value)| (name.as_str(), value.expose_secret())).collect();
    assert_eq!(variables, [("A", "token-of-ann"), ("SECRET", "secret-of-ann")]);
    assert_eq!(process.cwd.as_deref(), Some(Path::new("/work/sub")));
    assert_eq!((server.start_time, server.call_time), (Duration::from_secs(7), Duration::from_secs(9)));
    assert!(server.uses("get_one") && !server.uses("get_all") && !server.uses("set_one") && !server.on_main_agent);
    assert!(server.traits.private && server.traits.untrusted && !server.traits.egress);
    // What is shown has the names of variables, what is recorded has no value of one.
    assert_eq!(server.shown, "'${HOME}/bin/files' --at '${EMPTY:-/tmp}'");
    assert!(
        server.secrets().any(|secret| secret == "secret-of-ann")
            && server.secrets().any(|secret| secret == "token-of-ann")
    );
    assert!(!format!("{server:?}").contains("of-ann"), "{server:?}");
}

#[test]
fn what_a_server_is_taken_for_comes_from_where_it_is_from_the_tool_and_before_all_from_the_configuration() {
    let traits = |text: &str, open_world: Option<bool>| {
        let Traits { private, untrusted, egress } =
            definition(text).unwrap().traits_of(Hints { open_world, ..Hints::default() });
        (private, untrusted, egress)
    };
    let (process, address) = ("[mcp.a]\ncommand = \"x\"\n", "[mcp.a]\nurl = \"https://example.org/mcp\"\n");
    let local = "[mcp.a]\nurl = \"http://127.0.0.1:9000/mcp\"\n";
    for text in [process, address, local] {
        assert_eq!(traits(text, None), (true, true, true), "{text}");
        assert_eq!(traits(text, Some(true)), (true, true, true), "{text}");
        let none = format!("{text}private = false\nuntrusted = false\negress = false\n");
        assert_eq!(traits(&none, Some(true)), (false, false, false), "{text}");
        let all = format!("{text}private = true\nuntrusted = true\negress = true\n");
        assert_eq!(traits(&all, Some(false)), (true, true, true), "{text}");
    }
    assert_eq!(traits(process, Some(false)), (true, false, false));
    assert_eq!(traits(local, Some(false)), (true, false, false));
    assert_eq!(traits(address, Some(false)), (true, false, true), "what goes there leaves this machine");
}

#[test]
fn an_address_gets_its_headers_and_its_token() {
    let server = definition(
        "[mcp.web]\nurl = \"https://example.org/mcp\"\nheaders = { X-Team = \"a\" }\nbearer_token_env = \"TOKEN\"\n\
         client_id = \"c\"\nclient_secret_env = \"SECRET\"\nscopes = [\"read\"]\nlogin_port = 7777\n",
    )
    .unwrap();
    let Reached::Address(address) = &server.reached else { panic!("{server:?}") };
    let headers: Vec<_> = address.headers.iter().map(|(name, value)| (name.as_str(), value.expose_secret())).collect();
    assert_eq!(headers, [("X-Team", "a"), ("Authorization", "Bearer token-of-ann")]);
    assert_eq!((address.login.client_id.as_deref(), address.login.port), (Some("c"), Some(7777)));
    assert!(!format!("{server:?}").contains("of-ann"), "{server:?}");
}

#[test]
fn what_is_wrong_with_a_section_is_said_by_line_or_by_reason_and_repeats_no_value() {
    for (text, words) in [
        ("[mcp.a]\ncomand = \"x\"", "line 2: unknown key \"mcp.a.comand\"; the nearest known key is \"mcp.a.command\""),
        ("[mcp.a]\ncommand = 5", "line 2: mcp.a.command must be a text in quotes"),
        ("[mcp.a.env]\nKEY = 12345", "line 2: mcp.a.env.KEY must be a text in quotes"),
        (
            "[mcp.a]\nurl = \"https://x.org\"\nlogin_port = 70000",
            "line 3: mcp.a.login_port must be a port from 1 to 65535",
        ),
        ("[mcp]\na = 1", "line 2: mcp.a must be a section: [mcp.NAME] with its keys below it"),
        ("[mcp.a]\nenabled = true", "it has neither a command nor an address (url)"),
        ("[mcp.a]\ncommand = \"x\"\nurl = \"https://x.org\"", "it has a command and an address; keep one of them"),
        ("[mcp.a]\nurl = \"x.org\"", "x.org is not an address such as https://example.org/mcp"),
        ("[mcp.a]\nurl = \"https://x.org/${NONE}\"", "the variable NONE is not set"),
        ("[mcp.a]\nurl = \"https://x.org\"\nbearer_token_env = \"EMPTY\"", "the variable EMPTY is not set"),
        (
            "[mcp.a__b]\ncommand = \"x\"",
            "a server needs a name of at most 32 letters, digits, - and single _, not at its end",
        ),
    ] {
        assert_eq!(definition(text).unwrap_err(), words, "{text}");
    }
}
