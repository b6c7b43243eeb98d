//! The hooks of a project, as a part of its offer: read, described and hashed with the rest.
//!
//! Of the files of other programs only the hooks count: another setting in them that changes asks nobody again.

use std::path::Path;

use super::ProjectOffer;
use crate::program::cli::hooks::{read_file, with_uncompared};
use steersman_base::text::QuestionText;
use steersman_extensions::hooks::{HookFile, HookPin, HookPlaces, HookTrust, TrustedHook};
use steersman_tools::workspace::Placement;

/// The files of a project with hooks.
const FILES: [&str; 5] = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/hooks.json",
    ".codex/config.toml",
    ".steersman/hooks.json",
];

impl ProjectOffer {
    /// Reads the hooks of the project; what is not run is one fault for each file.
    pub(super) fn read_hooks(&mut self) {
        let at = self.hook_places();
        for name in FILES {
            let path = self.root.join(name);
            if path.symlink_metadata().is_err() {
                continue;
            }
            let Some(text) = self.text_of(&path) else {
                self.broken_hooks.extend(HookFile::unreadable(name, "", "it cannot be read").broken);
                continue;
            };
            let mut file = with_uncompared(read_file(name, Path::new(name), &text), name, &at);
            self.broken_hooks.append(&mut file.broken);
            for hook in std::mem::take(&mut file.hooks) {
                if hook.placement == Placement::Outside {
                    let why = "it wants to run outside of the sandbox, which only a file of your own may say";
                    file.faults.push(format!("{} ({why})", hook.event));
                    continue;
                }
                match HookPin::load(&hook, &at) {
                    Ok(pin) => {
                        self.hashed(format!("hook {name}"), pin.hash.clone().into_bytes());
                        self.hooks.push(TrustedHook { hook, trust: HookTrust::Content(pin) });
                    }
                    Err(why) => file.faults.push(format!("{} ({why})", hook.event)),
                }
            }
            self.faults.extend(file.error_line(name));
        }
    }

    /// Describes exactly what the hooks run.
    pub(super) fn describe_hooks(&self, text: &mut QuestionText) {
        if !self.hooks.is_empty() {
            text.part("Hooks. They run in the sandbox: what they write outside of the project is lost or refused:");
        }
        for TrustedHook { trust, .. } in &self.hooks {
            match trust {
                HookTrust::Content(pin) => text.append(&pin.text),
                // No hook of a project is trusted by a file of the user's.
                HookTrust::Configuration => {}
            }
        }
    }

    fn hook_places(&self) -> HookPlaces {
        HookPlaces { cwd: self.root.clone(), project: self.root.clone(), home: None }
    }
}
