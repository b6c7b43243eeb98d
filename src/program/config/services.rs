//! The services that people have keys of: their addresses, the hosts that are theirs, the variables that hold their keys.
//!
//! Always holds: the key of one is never taken for the host of another.

use reqwest::Url;

use steersman_base::dialect::Dialect;

/// One service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Service {
    /// What it is called in lists of sources.
    pub name: &'static str,
    pub dialect: Dialect,
    pub base_url: &'static str,
    /// Its hosts; what lies beneath one of them is its too.
    pub hosts: &'static [&'static str],
    /// The environment variables that hold its key, the first that is set counting.
    pub variables: &'static [&'static str],
    /// The environment variable that says where its own programs find it: a gateway, whose key the others are then.
    pub address: Option<&'static str>,
}

const fn chat(
    name: &'static str,
    base_url: &'static str,
    hosts: &'static [&'static str],
    variables: &'static [&'static str],
) -> Service {
    Service { name, dialect: Dialect::OpenAi, base_url, hosts, variables, address: None }
}

/// Holds the services, in the order in which they are listed.
pub const SERVICES: &[Service] = &[
    chat("openai", "https://api.openai.com/v1", &["api.openai.com"], &["OPENAI_API_KEY"]),
    Service {
        name: "anthropic",
        dialect: Dialect::Anthropic,
        base_url: "https://api.anthropic.com/v1",
        hosts: &["api.anthropic.com"],
        variables: &["ANTHROPIC_API_KEY"],
        address: Some("ANTHROPIC_BASE_URL"),
    },
    Service {
        name: "gemini",
        dialect: Dialect::Gemini,
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        hosts: &["generativelanguage.googleapis.com"],
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        address: Some("GOOGLE_GEMINI_BASE_URL"),
    },
    chat("openrouter", "https://openrouter.ai/api/v1", &["openrouter.ai"], &["OPENROUTER_API_KEY"]),
    chat("deepseek", "https://api.deepseek.com/v1", &["api.deepseek.com"], &["DEEPSEEK_API_KEY"]),
    chat("mistral", "https://api.mistral.ai/v1", &["api.mistral.ai"], &["MISTRAL_API_KEY"]),
    chat("groq", "https://api.groq.com/openai/v1", &["api.groq.com"], &["GROQ_API_KEY"]),
    chat("xai", "https://api.x.ai/v1", &["api.x.ai"], &["XAI_API_KEY"]),
    chat("moonshot", "https://api.moonshot.ai/v1", &["api.moonshot.ai", "api.moonshot.cn"], &["MOONSHOT_API_KEY"]),
    chat("zai", "https://api.z.ai/api/paas/v4", &["api.z.ai", "open.bigmodel.cn"], &["ZAI_API_KEY"]),
    chat(
        "qwen",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        &["dashscope-intl.aliyuncs.com", "dashscope.aliyuncs.com"],
        &["DASHSCOPE_API_KEY"],
    ),
    chat("cerebras", "https://api.cerebras.ai/v1", &["api.cerebras.ai"], &["CEREBRAS_API_KEY"]),
    chat("together", "https://api.together.xyz/v1", &["api.together.xyz", "api.together.ai"], &["TOGETHER_API_KEY"]),
    chat("fireworks", "https://api.fireworks.ai/inference/v1", &["api.fireworks.ai"], &["FIREWORKS_API_KEY"]),
    chat("huggingface", "https://router.huggingface.co/v1", &["router.huggingface.co"], &["HF_TOKEN"]),
    chat("nvidia", "https://integrate.api.nvidia.com/v1", &["integrate.api.nvidia.com"], &["NVIDIA_API_KEY"]),
    chat("perplexity", "https://api.perplexity.ai", &["api.perplexity.ai"], &["PERPLEXITY_API_KEY"]),
];

impl Service {
    /// Returns the service that answers at an address.
    pub fn at(base_url: &str) -> Option<&'static Self> {
        let url = Url::parse(base_url.trim()).ok()?;
        let host = url.host_str()?.to_ascii_lowercase();
        let host = host.trim_end_matches('.');
        let its = |own: &&str| host == *own || host.strip_suffix(*own).is_some_and(|before| before.ends_with('.'));
        SERVICES.iter().find(|service| service.hosts.iter().any(&its))
    }

    /// Returns every variable that holds a key of some service.
    pub fn all_variables() -> impl Iterator<Item = &'static str> {
        SERVICES.iter().flat_map(|service| service.variables).copied()
    }
}
