//! The tool `ask_user`: an agent asks the user one to four questions, each with options, and the user's own words as one
//! more answer.
//!
//! A call waits for the answers, or returns at once and each answer comes to the agent as a text of the user. One that waits
//! gives way to such a text: its questions stay open, and their answers come as texts too. Where nobody is there to answer
//! the default counts, or the model is told to decide.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use steersman_base::message::Arguments;
use steersman_base::text::is_blank;
use steersman_core::approval::{AgentAnswer, AgentQuestion, AnswerOption, Asker};
use steersman_core::tool::{
    ASK_TOOL, Args, LateReport, Parameters, ReleasedBy, Tool, ToolContext, ToolError, ToolReport, ToolSpec,
};

const DESCRIPTION: &str = "Asks the user one to four questions.

Usage:
- Only for a decision that is the user's and that you cannot find out or take yourself: what is wanted, which way to go.
- Give two to four `options` where you can, the one you would take first; the user can always answer in own words.
- `default` is the answer that counts where nobody answers.
- With `wait` false you work on meanwhile, and each answer comes to you as a message of the user.
- Never ask for a password, a key or another secret.";

/// Most questions of one call.
const QUESTIONS: usize = 4;
/// Most options of one question.
const OPTIONS: usize = 8;
/// Most characters of a question.
const QUESTION_CHARS: usize = 2000;
/// Most characters of an option's label.
const LABEL_CHARS: usize = 80;
/// Most seconds after which a default counts: a day.
const LONGEST: i64 = 24 * 60 * 60;

/// Keeps questions open beside the work of their agents, also when their call has ended.
pub trait AskBeside: Send + Sync {
    /// Asks a question. Its answer goes to `reply` while the call waits for it, and to the agent as a text of the user once
    /// the call does not any more.
    fn ask(&self, asker: Asker, question: AgentQuestion, report: LateReport, reply: AnswerSender);
}

/// Where the answer to a question goes while its call waits.
pub struct AnswerSender {
    sender: oneshot::Sender<AgentAnswer>,
    is_open: Arc<AtomicBool>,
}

impl AnswerSender {
    /// Makes one that goes to no call.
    pub fn without_call() -> Self {
        let (sender, _) = oneshot::channel();
        Self { sender, is_open: Arc::new(AtomicBool::new(true)) }
    }

    /// Waits until the call does not wait any more; tells whether the question stays open then.
    pub async fn given_up(&mut self) -> bool {
        self.sender.closed().await;
        self.is_open.load(Ordering::Acquire)
    }

    /// Gives the call its answer.
    ///
    /// # Errors
    /// The answer, where the call does not wait any more.
    pub fn send(self, answer: AgentAnswer) -> Result<(), AgentAnswer> {
        self.sender.send(answer)
    }
}

/// Asks the user.
pub struct AskUserTool {
    spec: ToolSpec,
    beside: Option<Arc<dyn AskBeside>>,
}

impl AskUserTool {
    /// Makes the tool; without `beside` each call waits for its answers.
    pub fn new(beside: Option<Arc<dyn AskBeside>>) -> Self {
        Self { spec: ToolSpec::new(ASK_TOOL, DESCRIPTION, parameters()), beside }
    }

    /// Asks, waits for the answers, and returns what the model is told.
    async fn wait_for_answers(&self, questions: Vec<AgentQuestion>, context: &ToolContext) -> String {
        let Some(beside) = &self.beside else {
            let report = |record| (context.report)(ToolReport::Approval(record));
            let answers = questions
                .iter()
                .map(|question| context.approvals.ask_for_agent(&context.asker, question.clone(), &report));
            let answers = join_all(answers).await;
            return told(&questions, answers.into_iter().map(Some).collect());
        };
        let is_open = Arc::new(AtomicBool::new(false));
        let mut receivers = Vec::new();
        for question in &questions {
            let (sender, receiver) = oneshot::channel();
            let reply = AnswerSender { sender, is_open: Arc::clone(&is_open) };
            beside.ask(context.asker.clone(), question.clone(), Arc::clone(&context.late_report), reply);
            receivers.push(receiver);
        }
        let mut answers: Vec<Option<AgentAnswer>> = questions.iter().map(|_| None).collect();
        let wait = async {
            for (receiver, answer) in receivers.iter_mut().zip(&mut answers) {
                // It ends without an answer only together with the session.
                *answer = Some(receiver.await.unwrap_or(AgentAnswer::Nobody));
            }
        };
        tokio::select! {
            biased;
            () = wait => return told(&questions, answers),
            () = context.release.requested(ReleasedBy::AnyText) => {}
        }
        is_open.store(true, Ordering::Release);
        for (receiver, answer) in receivers.iter_mut().zip(&mut answers) {
            receiver.close();
            // One that came at this moment is not lost.
            if let Ok(came) = receiver.try_recv() {
                *answer = Some(came);
            }
        }
        format!("[a text of the user came first]\n{}", told(&questions, answers))
    }
}

impl Tool for AskUserTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(&'a self, args: Args, context: &'a ToolContext) -> BoxFuture<'a, Result<String, ToolError>> {
        async move {
            let waits = args.opt_bool("wait").unwrap_or(true);
            let default_after = args.opt_int("default_after").filter(|_| waits);
            let questions = read_questions(&args, waits, default_after).map_err(ToolError::failed)?;
            context.approve_use(ASK_TOOL, &questions.iter().map(|question| question.text.as_str()).collect::<Vec<_>>().join("\n")).await?;
            if waits || !context.approvals.is_user_present() {
                return Ok(self.wait_for_answers(questions, context).await);
            }
            let Some(beside) = &self.beside else {
                return Err(ToolError::failed("no answer can come later here: leave `wait` out"));
            };
            for question in questions {
                let report = Arc::clone(&context.late_report);
                beside.ask(context.asker.clone(), question, report, AnswerSender::without_call());
            }
            Ok("Asked. Each answer comes to you as a message of the user: go on with what does not depend on it, and do not \
                ask again."
                .to_owned())
        }
        .boxed()
    }
}

fn parameters() -> Parameters {
    Parameters::build(|p| {
        p.optional_objects("questions", "One to four questions.", |question| {
            question.required_string("question", "What you ask, in one or two sentences.");
            question.optional_objects("options", "The answers that you offer.", |option| {
                option.required_string("label", "The answer, in one to five words.");
                option.optional_string("description", "What it means, in one sentence.");
            });
            question.optional_boolean("several", "Whether several options may be chosen. Default false.");
            question.optional_string("default", "The answer that counts where nobody answers: one of the labels.");
        });
        p.optional_boolean("wait", "Whether to wait for the answers. Default true.");
        p.optional_integer("default_after", "Seconds after which the defaults count. Only for a call that waits.");
    })
}

/// Returns what a call asked that did not wait for the answers; nothing where its arguments are not right.
pub fn questions_of(arguments: &Arguments) -> Vec<AgentQuestion> {
    let args = parameters().validate(arguments).ok();
    args.and_then(|args| read_questions(&args, false, None).ok()).unwrap_or_default()
}

/// Reads the questions of a call.
///
/// # Errors
/// One sentence about what is wrong.
fn read_questions(args: &Args, waits: bool, default_after: Option<i64>) -> Result<Vec<AgentQuestion>, String> {
    let default_after = match default_after {
        None => None,
        Some(seconds @ 1..=LONGEST) => u64::try_from(seconds).ok(),
        Some(_) => return Err(format!("`default_after` must be 1 to {LONGEST} seconds")),
    };
    let given = args.objects("questions");
    if given.is_empty() || given.len() > QUESTIONS {
        return Err(format!("`questions` must hold one to {QUESTIONS} questions, not {}", given.len()));
    }
    given.into_iter().map(|question| read_question(question, waits, default_after)).collect()
}

fn read_question(
    question: &Map<String, Value>,
    waits: bool,
    default_after: Option<u64>,
) -> Result<AgentQuestion, String> {
    let text = |from: &Map<String, Value>, name: &str| {
        from.get(name).and_then(Value::as_str).unwrap_or_default().trim().to_owned()
    };
    let asked = text(question, "question");
    if is_blank(&asked) || asked.chars().count() > QUESTION_CHARS {
        return Err(format!("a question must have 1 to {QUESTION_CHARS} characters"));
    }
    let options: Vec<AnswerOption> = question
        .get("options")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .map(|option| AnswerOption { label: text(option, "label"), description: text(option, "description") })
        .collect();
    if options.len() > OPTIONS {
        return Err(format!("a question has at most {OPTIONS} options"));
    }
    for (index, option) in options.iter().enumerate() {
        if is_blank(&option.label) || option.label.chars().count() > LABEL_CHARS {
            return Err(format!("the label of an option must have 1 to {LABEL_CHARS} characters"));
        }
        if options.iter().take(index).any(|earlier| earlier.label == option.label) {
            return Err(format!("the option {} is there twice", option.label));
        }
    }
    let default = Some(text(question, "default")).filter(|default| !is_blank(default));
    if let Some(default) = &default
        && !options.is_empty()
        && !options.iter().any(|option| option.label == *default)
    {
        return Err(format!("`default` must be one of the labels, not {default}"));
    }
    let several = question.get("several").and_then(Value::as_bool).unwrap_or_default();
    let default_after = default_after.filter(|_| default.is_some());
    Ok(AgentQuestion { text: asked, options, several, default, default_after, waits })
}

/// Tells the model what was answered; `None` for a question that stays open.
fn told(questions: &[AgentQuestion], answers: Vec<Option<AgentAnswer>>) -> String {
    let one = |(question, answer): (&AgentQuestion, Option<AgentAnswer>)| {
        let words = match answer {
            None => {
                "not answered yet: the question stays open, and its answer will come to you as a message".to_owned()
            }
            Some(AgentAnswer::Given(answers)) => answers.join(", "),
            Some(AgentAnswer::Declined(None)) => "declined: decide yourself".to_owned(),
            Some(AgentAnswer::Declined(Some(words))) => format!("declined, and the user says: {words}"),
            Some(AgentAnswer::Default(default)) => format!("{default} (nobody answered: this is the default)"),
            Some(AgentAnswer::Nobody) => {
                "nobody is there to answer: decide yourself, and say in your answer what you assumed".to_owned()
            }
        };
        if questions.len() == 1 { words } else { format!("{}\n→ {words}", question.text) }
    };
    questions.iter().zip(answers).map(one).collect::<Vec<_>>().join("\n\n")
}
