//! The command line: commands of the process, and verbs that are operations.

pub(crate) mod alias;
pub(crate) mod arguments;
pub(crate) mod render;
pub(crate) mod terminal;
pub(crate) mod trouble;

use std::path::PathBuf;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use self::alias::{GROUPS, VERBS, Verb};

/// The mail and event room for AI agents.
#[derive(Debug, Parser)]
#[command(
    name = "postroom",
    version,
    propagate_version = true,
    disable_help_subcommand = true
)]
#[command(
    after_help = "Exit status: 0 fine, 1 problems were found, 2 wrong usage or input and output failed."
)]
pub(crate) struct Cli {
    #[command(flatten, next_help_heading = "Options of every command")]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that every command takes.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Global {
    /// Configuration file [default: postroom.toml, when there is one]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Data folder [default: ./postroom-data; demo: a temporary folder, gone afterwards]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Talk to this server instead of the data folder
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// The key to show to the server that --url or POSTROOM_URL names
    #[arg(long, global = true, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// The mailbox to act as: an address or identity id
    #[arg(long = "as", global = true, value_name = "ADDRESS")]
    pub(crate) identity: Option<String>,
    /// One line of JSON instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// Commands that are no operations.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Try everything: a made-up workspace with some hundred mails, and a server over it
    Demo(Serve),
    /// Run the server: HTTP, MCP, SMTP
    Serve(Serve),
    /// Take in an archive: mbox files, Maildirs, folders of .eml, single mails
    Import(Import),
    /// Call any operation: options named as its arguments, or one JSON object
    Call(Call),
    /// Speak MCP on standard input and output
    #[command(after_help = MCP_REACH)]
    Mcp(Mcp),
    /// Show what Postroom makes of one mail file, without a data folder
    Inspect(Inspect),
    #[command(flatten)]
    Document(crate::command::document::Document),
    /// Say whether this server would dial a URL: `egress check URL`
    #[command(subcommand)]
    Egress(Egress),
    /// Ways in for events
    #[command(subcommand)]
    Source(crate::command::source::Source),
    /// What arrived, as it was received
    #[command(subcommand)]
    Event(Event),
    /// Build the search index anew
    Reindex,
    /// Look for problems: database, disk, index, configuration
    Doctor,
    /// Show every configuration key and its value now
    Config,
    /// Print the OpenAPI document
    Openapi,
    /// List the operations, or print them as MCP tools with --json
    Tools(Tools),
    /// Print shell completions
    Completions(Completions),
}

/// What a client of `mcp` may do.
const MCP_REACH: &str = "Without --as the client is you: it reads every mailbox of the folder and writes to anyone. \
    Give an agent its mailbox: --as ADDRESS binds it to that one, as a new agent's key would, and it sends in threads \
    only. With --url the key alone says what it may. Where no server runs on the folder, mail that is sent waits for \
    `postroom serve`.";

/// Where the server listens.
#[derive(Debug, Clone, Args)]
pub(crate) struct Serve {
    /// HTTP address and port; port 0 picks a free one [default: 127.0.0.1:8025]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<String>,
    /// SMTP address and port, or off [default: 127.0.0.1:2525]
    #[arg(long, value_name = "ADDR")]
    pub(crate) smtp: Option<String>,
    /// LMTP address and port [default: off]
    #[arg(long, value_name = "ADDR")]
    pub(crate) lmtp: Option<String>,
}

/// What to take in.
#[derive(Debug, Clone, Args)]
pub(crate) struct Import {
    /// Files and folders
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// The mailbox that takes it; made when there is none
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) identity: Option<String>,
}

/// An operation and its arguments.
#[derive(Debug, Clone, Args)]
pub(crate) struct Call {
    /// The operation, as `postroom tools` lists it
    #[arg(value_name = "OPERATION")]
    pub(crate) operation: String,
    /// Its arguments: options such as --limit 5, one JSON object, @FILE or - with one
    #[arg(
        value_name = "ARGUMENTS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) arguments: Vec<String>,
}

/// What MCP over standard input and output offers.
#[derive(Debug, Clone, Args)]
pub(crate) struct Mcp {
    /// Toolsets, separated by commas [default: mail, events, work, and four tools of compose]
    #[arg(long, value_name = "NAMES")]
    pub(crate) tools: Option<String>,
}

/// One mail file.
#[derive(Debug, Clone, Args)]
pub(crate) struct Inspect {
    /// The file, or - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

/// What to ask of the guard over outgoing requests.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Egress {
    /// Say whether a URL is allowed and why; dials nothing
    #[command(
        after_help = "Exit status: 0 the URL is allowed, 1 it is refused, 2 the configuration cannot be used."
    )]
    Check {
        /// The URL
        #[arg(value_name = "URL", allow_hyphen_values = true)]
        target: String,
    },
}

/// What to do with events beside the verbs that are operations.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Event {
    /// Post new events to a program on this machine, with their bodies and kept headers
    Forward(crate::command::event_forward::Forward),
}

/// Which operations to list.
#[derive(Debug, Clone, Args)]
pub(crate) struct Tools {
    /// Toolsets, separated by commas [default: all]
    #[arg(long, value_name = "NAMES")]
    pub(crate) tools: Option<String>,
    /// Print the reference page of all operations in Markdown
    #[arg(long, conflicts_with = "tools")]
    pub(crate) reference: bool,
}

/// Which shell.
#[derive(Debug, Clone, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// What a command line asks for.
#[derive(Debug)]
pub(crate) enum Asked {
    /// A command of the process.
    Command(Box<Cli>),
    /// A verb with what was given.
    Verb(&'static Verb, Box<Global>, Box<clap::ArgMatches>),
}

/// The whole command line: the commands and the verbs.
pub(crate) fn command() -> clap::Command {
    let mut command = Cli::command();
    for verb in VERBS.iter().filter(|verb| verb.words.len() == 1) {
        command = command.subcommand(verb_command(verb));
    }
    for (group, about) in GROUPS {
        let verbs = VERBS
            .iter()
            .filter(|verb| verb.words.len() == 2 && verb.words.first() == Some(group));
        let with_verbs = |group| {
            verbs.fold(group, |group: clap::Command, verb| {
                group.subcommand(verb_command(verb))
            })
        };
        // A group may have commands of the process beside its verbs.
        command = if command.find_subcommand(group).is_some() {
            command.mut_subcommand(group, with_verbs)
        } else {
            let group = clap::Command::new(*group)
                .about(*about)
                .subcommand_required(true)
                .arg_required_else_help(true);
            command.subcommand(with_verbs(group))
        };
    }
    command
}

/// The option of verbs that send mail which names a file to carry.
pub(crate) const ATTACH: &str = "attach";

/// `--attach FILE`, where the operation takes attachments.
fn attach_option() -> clap::Arg {
    clap::Arg::new(ATTACH)
        .long(ATTACH)
        .value_name("FILE")
        .action(clap::ArgAction::Append)
        .value_parser(clap::value_parser!(std::path::PathBuf))
        .help("A file to attach; may stand several times")
}

fn verb_command(verb: &'static Verb) -> clap::Command {
    let mut command =
        clap::Command::new(verb.words.last().copied().unwrap_or_default()).about(verb.about);
    let prefixes: Vec<&str> = verb
        .calls
        .iter()
        .filter_map(|call| call.by_id.map(|(prefix, _)| prefix))
        .collect();
    if !prefixes.is_empty() {
        command = command.arg(
            clap::Arg::new("id")
                .value_name("ID")
                .required(true)
                .help(format!("An id that begins with {}", prefixes.join(" or "))),
        );
    }
    if let Some(argument) = verb.word() {
        command = command.arg(
            clap::Arg::new("word")
                .value_name(argument.to_uppercase())
                .conflicts_with(argument)
                .help(format!("As --{}", argument.replace('_', "-"))),
        );
    }
    for call in verb.calls {
        let Some(operation) = postroom_app::operation::find(call.operation) else {
            continue;
        };
        let own = call.by_id.map(|(_, argument)| argument);
        for property in arguments::properties(operation) {
            let name = property.name().to_owned();
            let taken = command
                .get_arguments()
                .any(|arg| arg.get_id() == name.as_str());
            // `--as` names the identity for every verb.
            let hidden = own == Some(name.as_str())
                || verb
                    .calls
                    .iter()
                    .any(|other| other.by_id.is_some_and(|(_, argument)| argument == name));
            if taken || hidden || name == "identity" {
                continue;
            }
            let arg = match verb
                .positional
                .iter()
                .position(|positional| *positional == name)
            {
                Some(place) => property.positional(!verb.spares(&name)).index(place + 1),
                None => property.option(),
            };
            command = command.arg(arg);
            if name == "attachments" {
                command = command.arg(attach_option());
            }
        }
    }
    command
}

/// Reads a command line.
pub(crate) fn parse(
    words: impl IntoIterator<Item = std::ffi::OsString>,
) -> Result<Asked, clap::Error> {
    let words: Vec<std::ffi::OsString> = words.into_iter().collect();
    let matches = command()
        .try_get_matches_from(&words)
        .map_err(|error| help_of_call(error, &words))?;
    for verb in VERBS {
        let mut at = &matches;
        let mut fits = true;
        for word in verb.words {
            match at.subcommand() {
                Some((name, inner)) if name == *word => at = inner,
                _ => {
                    fits = false;
                    break;
                }
            }
        }
        if fits {
            return Ok(Asked::Verb(
                verb,
                Box::new(Global::from_arg_matches(at)?),
                Box::new(at.clone()),
            ));
        }
    }
    let mut cli = Cli::from_arg_matches(&matches)?;
    if let Command::Call(call) = &mut cli.command {
        if call.arguments.iter().any(|word| word == "--help")
            && let Some(help) = operation_help(&call.operation)
        {
            return Err(help);
        }
        take_globals(call, &mut cli.global)?;
    }
    Ok(Asked::Command(Box::new(cli)))
}

/// Help that was asked for behind `call OPERATION` is that of the operation.
fn help_of_call(error: clap::Error, words: &[std::ffi::OsString]) -> clap::Error {
    if error.kind() != clap::error::ErrorKind::DisplayHelp {
        return error;
    }
    let mut pairs = words.iter().zip(words.iter().skip(1));
    let named = pairs.find(|(word, _)| *word == "call");
    let help = named.and_then(|(_, name)| operation_help(name.to_str()?));
    help.unwrap_or(error)
}

/// What an operation does and its arguments, as help.
fn operation_help(name: &str) -> Option<clap::Error> {
    let operation = postroom_app::operation::find(name)?;
    let shown = clap::Command::new(operation.name)
        .bin_name(format!("postroom call {}", operation.name))
        .about(operation.description)
        .after_help("One JSON object of arguments may stand instead of the options.")
        .args(
            arguments::properties(operation)
                .iter()
                .map(arguments::Property::option),
        );
    shown.try_get_matches_from([operation.name, "--help"]).err()
}

/// The words behind `call OPERATION` are the operation's; the options of every command may stand
/// among them.
fn take_globals(call: &mut Call, global: &mut Global) -> Result<(), clap::Error> {
    let mut rest = Vec::new();
    let mut words = std::mem::take(&mut call.arguments).into_iter();
    while let Some(word) = words.next() {
        let (option, given) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        let mut value = || {
            given.clone().or_else(|| words.next()).ok_or_else(|| {
                command().error(
                    clap::error::ErrorKind::InvalidValue,
                    format!("{option} has no value"),
                )
            })
        };
        match option {
            "--json" => global.json = true,
            "--as" => global.identity = Some(value()?),
            "--data" => global.data = Some(value()?.into()),
            "--config" => global.config = Some(value()?.into()),
            "--url" => global.url = Some(value()?),
            "--key" => global.key = Some(value()?),
            _ => rest.push(word),
        }
    }
    call.arguments = rest;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Asked, clap::Error> {
        parse(
            std::iter::once("postroom")
                .chain(words.iter().copied())
                .map(std::ffi::OsString::from),
        )
    }

    #[test]
    fn options_of_every_command_may_stand_behind_an_operation() {
        let words = [
            "call",
            "mail_search",
            "--q",
            "a b",
            "--as",
            "a@b.example",
            "--data=/x",
            "--json",
        ];
        let Ok(Asked::Command(cli)) = parsed(&words) else {
            panic!("a command");
        };
        let Command::Call(call) = cli.command else {
            panic!("call");
        };
        assert_eq!(call.arguments, ["--q", "a b"]);
        assert!(cli.global.json && cli.global.data.is_some());
    }

    #[test]
    fn help_behind_an_operation_lists_its_arguments() {
        for words in [
            &["call", "mail_search", "--help"][..],
            &["call", "mail_search", "--limit", "3", "--help"],
        ] {
            let error = parsed(words).expect_err("help");
            assert_eq!(error.kind(), clap::error::ErrorKind::DisplayHelp);
            let help = error.to_string();
            assert!(help.contains("postroom call mail_search"), "{help}");
            assert!(help.contains("--q <TEXT>"), "{help}");
        }
        let help = parsed(&["call", "--help"]).expect_err("help").to_string();
        assert!(help.contains("OPERATION"), "{help}");
    }

    #[test]
    fn no_operation_has_an_argument_that_every_command_has() {
        for row in postroom_app::operation::TABLE {
            for property in arguments::properties(row) {
                assert!(
                    ![
                        "config", "data", "url", "key", "as", "json", "help", "version"
                    ]
                    .contains(&property.name()),
                    "{}",
                    row.name
                );
            }
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    /// The commands of a guide: what stands behind a prompt, at the beginning of a line of a shell
    /// block, or inside `$(…)`, up to what the shell does with it.
    fn commands_of(page: &str) -> Vec<Vec<String>> {
        let mut commands = Vec::new();
        let mut shell = false;
        for line in page.lines() {
            if let Some(kind) = line.strip_prefix("```") {
                shell = matches!(kind, "sh" | "console");
                continue;
            }
            let begins = [line.strip_prefix("$ "), Some(line)];
            let plain = begins.into_iter().flatten().next().unwrap_or(line);
            let inner = line.split_once("$(").map_or("", |(_, inner)| inner);
            for text in [plain, inner] {
                if shell && text.starts_with("postroom ") {
                    commands.push(words_of(text));
                }
            }
        }
        commands
    }

    fn words_of(text: &str) -> Vec<String> {
        let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
        for c in text.chars() {
            match (c, quote) {
                (c, Some(open)) if c == open => quote = None,
                ('\'' | '"', None) => quote = Some(c),
                ('|' | '>' | '#' | ')' | ';' | '&', None) => break,
                (' ', None) => words.push(std::mem::take(&mut word)),
                _ => word.push(c),
            }
        }
        words.push(word);
        words.retain(|word| !word.is_empty() && word != "\\");
        words
    }

    #[test]
    fn every_command_of_the_guides_is_one() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
        let mut count = 0;
        for page in std::fs::read_dir(folder).expect("the guides") {
            let path = page.expect("a page").path();
            let page = std::fs::read_to_string(&path).expect("text");
            for words in commands_of(&page) {
                count += 1;
                // What the shell fills in is an id or a number.
                let given = words.iter().map(|word| match word.starts_with('$') {
                    true => std::ffi::OsString::from("1"),
                    false => std::ffi::OsString::from(word),
                });
                if let Err(error) = parse(given) {
                    panic!("{}: {words:?}: {error}", path.display());
                }
            }
        }
        assert!(count > 30, "{count} commands");
    }

    #[test]
    fn a_verb_takes_the_options_that_its_operation_has() {
        let Ok(Asked::Verb(verb, global, matches)) = parsed(&[
            "event",
            "list",
            "--limit",
            "3",
            "--json",
            "--as",
            "a@b.example",
        ]) else {
            panic!("a verb");
        };
        assert_eq!(verb.words, ["event", "list"]);
        assert!(global.json);
        assert_eq!(global.identity.as_deref(), Some("a@b.example"));
        assert_eq!(
            matches.get_one::<String>("limit").map(String::as_str),
            Some("3")
        );
        assert!(parsed(&["event", "list", "--no-such-option"]).is_err());
    }
}
