//! The scripts: for each role a table of steps and a table of the sections of its answer.
//!
//! The first step that has calls which were not made yet comes next; when none has, the answer does. In the texts,
//! words in braces are filled in with what is known ([`View::fill`]).

use crate::demo::plan::conversation::{Call, Conversation};
use crate::demo::plan::requests::{Intent, speaks_of_the_whole};
use crate::demo::plan::view::{Request, View};
use crate::demo::plan::{answers, report, steps};

/// As whom the model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The main agent with plain requests, each done by its tool.
    Direct,
    /// The main agent with a look at the whole project.
    Tour,
    /// The main agent with a question after a tour.
    FollowUp,
    /// The sub-agent `file_miner` with the files of its task.
    Survey,
    /// The sub-agent `researcher` with pages of the web.
    Research,
    /// Whoever answers from the evidence of an agent that ran out of steps.
    Evidence,
    /// Anybody without tools.
    Plain,
}

/// A step: its calls, the reason for them aloud, and what is said before them.
#[derive(Debug)]
pub struct Step(pub fn(&View) -> Vec<Call>, pub &'static str, pub &'static str);

/// A section of an answer; empty when there is nothing to say.
pub type Section = fn(&View) -> String;

/// What a role does in a turn.
#[derive(Debug)]
pub struct Script {
    /// The steps, in order.
    pub steps: &'static [Step],
    /// What is said aloud before the answer.
    pub closing: &'static str,
    /// The sections of the answer.
    pub sections: &'static [Section],
    /// More sections, which a brief answer leaves out.
    pub details: &'static [Section],
}

const DIRECT: Script = Script {
    steps: &[Step(
        steps::asked,
        "The request is {request}. One tool is made for this; no tour is needed.",
        "{promises}",
    )],
    closing: "I have what was asked for; a short answer is enough.",
    sections: &[answers::plain_requests],
    details: &[report::memory],
};

const TOUR: Script = Script {
    steps: &[
        Step(
            steps::list,
            "The request is {request}. Before I say anything about these files I have to see them. One listing of the \
             current directory is cheap; it tells me what kinds of files there are and where they lie. Then I can divide \
             the work.",
            "I look at what is here first.",
        ),
        Step(
            steps::delegate,
            "The listing shows {files}: {kinds}. The parts do not depend on each other, so {agents} can work at the same \
             time. They see nothing of this conversation: each needs a task that stands by itself, with its pattern and the \
             files to begin with.",
            "There are {files} here. I send {agents} into them at the same time.",
        ),
        Step(
            steps::delegate_focus,
            "The agents' reports are in, and the focus has moved since. Another agent can look there.",
            "I send one more agent after the new focus.",
        ),
        Step(
            steps::read_telling,
            "The listing shows {files}: {kinds}. I look at the most telling files myself.",
            "I read the most telling files: {telling}.",
        ),
        Step(
            steps::search,
            "Now the definitions and the open ends, in one batch.",
            "I search for definitions and open ends.",
        ),
        Step(
            steps::read_centre,
            "The reports are in. Reports are data, and the report I write should show a real line or two: {centre} is the \
             centre, I read it myself.",
            "The agents are back. A look at {centre} of my own, then I report.",
        ),
    ],
    closing: "Everything is in: {results}. I write the report now, each finding with path and line, and say what is missing.",
    sections: &[report::tour, report::memory, report::on_words, report::also_asked, report::findings],
    details: &[report::kinds, report::excerpts, report::open_ends, report::next_steps],
};

const FOLLOW_UP: Script = Script {
    steps: &[
        Step(
            steps::search_words,
            "A question after my first look: {request}. I know the listing; now I look for {words}.",
            "{memory} Now I look for {words}.",
        ),
        Step(
            steps::read_on,
            "There is more to see after my first look: files that I have not read yet.",
            "{memory} Now I read on.",
        ),
        Step(
            steps::read_found,
            "The search says where it stands. The lines around tell more, so I read the files that have most of it.",
            "I read where it stands most.",
        ),
    ],
    closing: "This adds to what I found before; I say what is new.",
    sections: &[report::memory, report::on_words, report::also_asked],
    details: &[report::excerpts, report::next_steps],
};

const SURVEY: Script = Script {
    steps: &[
        Step(steps::list, "My task is about the {label}. First I list {pattern}.", ""),
        Step(steps::read_telling, "{files} here. The most telling: {telling}. I read them together.", ""),
        Step(
            steps::search,
            "Now the definitions and the open ends, in one batch; the places tell where the weight lies.",
            "",
        ),
        Step(steps::read_densest, "{densest} defines the most; a look at it completes the picture.", ""),
    ],
    closing: "I have seen enough of the {label}: now the report, with places only from results.",
    sections: &[report::survey, report::findings, report::open_ends],
    details: &[],
};

const RESEARCH: Script = Script {
    steps: &[
        Step(steps::search_web, "First a search for the question.", ""),
        Step(steps::open_pages, "Two of the pages look right; I open them together.", ""),
    ],
    closing: "I report what the pages say, with their addresses.",
    sections: &[answers::pages],
    details: &[],
};

const EVIDENCE: Script = Script {
    steps: &[],
    closing: "I use only what the evidence has, with path and line where it names them.",
    sections: &[answers::evidence],
    details: &[],
};

const PLAIN: Script = Script {
    steps: &[],
    closing: "There are no tools in this request; a plain answer has to do.",
    sections: &[answers::without_tools],
    details: &[],
};

impl Role {
    /// Finds out as whom the model is asked, by the tools on offer, the instructions and the request.
    pub fn of(talk: &Conversation, request: &Request) -> Self {
        let system = talk.system.to_lowercase();
        let files = ["read", "grep", "glob"];
        let main = talk.offers("agent") || system.contains("steersman");
        let only_files = talk.tools.iter().all(|tool| files.contains(&tool.name.as_str()));
        let wide = |intent: &Intent| match intent {
            Intent::Survey(_) | Intent::Focus(_) | Intent::Skip(_) | Intent::Agents(_) | Intent::Brief => true,
            Intent::SmallTalk(_) | Intent::Stop | Intent::Use(_) => false,
        };
        if talk.tools.is_empty() {
            return if request.text.contains("Evidence gathered:") { Self::Evidence } else { Self::Plain };
        }
        if !main && (only_files || system.contains("file miner")) {
            return Self::Survey;
        }
        if !main && talk.offers("web_search") && !files.iter().any(|name| talk.offers(name)) {
            return Self::Research;
        }
        if !request.intents.iter().any(wide) {
            return Self::Direct;
        }
        let later = talk.earlier_listing().is_some() && !speaks_of_the_whole(&request.text);
        if later { Self::FollowUp } else { Self::Tour }
    }

    /// Returns what the role does.
    pub fn script(self) -> &'static Script {
        match self {
            Self::Direct => &DIRECT,
            Self::Tour => &TOUR,
            Self::FollowUp => &FOLLOW_UP,
            Self::Survey => &SURVEY,
            Self::Research => &RESEARCH,
            Self::Evidence => &EVIDENCE,
            Self::Plain => &PLAIN,
        }
    }
}
