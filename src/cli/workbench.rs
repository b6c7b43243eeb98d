//! From the configuration to what tools work with: the spawner with its sandbox and environment.

use std::ffi::OsString;
use std::sync::Arc;

use crate::cli::places::Places;
use crate::config::{SandboxKind, SandboxSettings};
use crate::host::{StartError, Workbench};
use crate::workspace::sandbox::{Choice, Surroundings};
use crate::workspace::{ChildEnvironment, Confinement, Network, Sandbox, Spawner};

/// Finds out what confines commands here, and makes the spawner.
///
/// # Errors
/// [`StartError`] when a sandbox was asked for by name that does not work here.
pub async fn workbench(
    settings: &SandboxSettings,
    places: &Places,
    notes: &mut Vec<String>,
) -> Result<Workbench, StartError> {
    let program = std::env::current_exe()
        .map_err(|error| StartError::Failed(format!("the program does not find its own file: {error}")))?;
    let path = std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/local/bin:/usr/bin:/bin"));
    let around = Surroundings { program: program.clone(), home: places.home.clone(), path };
    let wanted = match settings.kind {
        SandboxKind::Auto => Choice::Auto,
        SandboxKind::Bubblewrap => Choice::Bubblewrap,
        SandboxKind::Landlock => Choice::Landlock,
        SandboxKind::Off => Choice::Off,
    };
    let sandbox =
        Sandbox::detect(wanted, &around).await.map_err(|error| StartError::Configuration(error.to_string()))?;
    if let (SandboxKind::Auto, Some(why)) = (settings.kind, sandbox.why_none()) {
        notes.push(format!("commands are not sandboxed ({why})"));
    }
    let environment = ChildEnvironment::new(std::env::vars_os(), &settings.pass_env, &settings.key_variables);
    Ok(Workbench {
        spawner: Arc::new(Spawner::new(program, sandbox, environment)),
        confinement: Confinement {
            readable: settings.readable.clone(),
            writable: settings.writable.clone(),
            network: if settings.network { Network::On } else { Network::Off },
        },
    })
}
