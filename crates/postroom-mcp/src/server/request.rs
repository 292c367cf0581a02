//! From a message to a request: the era rule, the header rules, and the parameters that are kept.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Server;
use crate::envelope::{RequestMessage, borrow_str, is_object};
use crate::era::{Claim, Meta, check_parameters, decide};
use crate::{LogLevel, Registry, Rejection, Revision, Wire};

/// A request that passed the era rule and the header rules. It owns what it needs.
#[derive(Debug)]
pub struct Request {
    pub(super) revision: Revision,
    pub(super) id: Box<RawValue>,
    pub(super) method: Method,
    pub(super) params: Params,
}

impl Request {
    /// The revision it speaks.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The id to echo.
    pub fn id(&self) -> &RawValue {
        &self.id
    }

    /// Whether this request can only be answered as a stream.
    pub fn needs_stream(&self) -> bool {
        self.method == Method::Listen
    }

    /// The tool that is called.
    pub fn tool(&self) -> Option<&str> {
        let name = self.params.name.as_deref();
        name.filter(|_| self.method == Method::ToolsCall)
    }

    /// The revision an `initialize` agreed on.
    pub fn handshake(&self) -> Option<Revision> {
        (self.method == Method::Initialize).then_some(self.revision)
    }
}

/// The methods of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Initialize,
    Discover,
    Ping,
    ToolsList,
    ToolsCall,
    PromptsList,
    PromptsGet,
    ResourcesList,
    TemplatesList,
    ResourcesRead,
    ResourcesSubscribe,
    Complete,
    SetLevel,
    Listen,
}

impl Method {
    /// The method of a name, where the revision has it.
    fn of(name: &str, revision: Revision) -> Option<Self> {
        let modern = revision.is_modern();
        Some(match name {
            "initialize" if !modern => Self::Initialize,
            "ping" if !modern => Self::Ping,
            "logging/setLevel" if !modern => Self::SetLevel,
            "resources/subscribe" | "resources/unsubscribe" if !modern => Self::ResourcesSubscribe,
            "server/discover" if modern => Self::Discover,
            "subscriptions/listen" if modern => Self::Listen,
            "tools/list" => Self::ToolsList,
            "tools/call" => Self::ToolsCall,
            "prompts/list" => Self::PromptsList,
            "prompts/get" => Self::PromptsGet,
            "resources/list" => Self::ResourcesList,
            "resources/templates/list" => Self::TemplatesList,
            "resources/read" => Self::ResourcesRead,
            "completion/complete" => Self::Complete,
            _ => return None,
        })
    }
}

/// The members of `params` that any method reads, as they were sent.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawParams<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(borrow)]
    protocol_version: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    uri: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    cursor: Option<&'a RawValue>,
    #[serde(borrow)]
    level: Option<&'a RawValue>,
    #[serde(borrow)]
    input_responses: Option<&'a RawValue>,
    #[serde(borrow)]
    request_state: Option<&'a RawValue>,
    #[serde(borrow)]
    notifications: Option<&'a RawValue>,
}

/// The parameters that a request keeps.
#[derive(Debug, Default)]
pub(super) struct Params {
    pub(super) name: Option<String>,
    pub(super) uri: Option<String>,
    /// `arguments`, or for a completion all of `params`.
    pub(super) arguments: Option<Box<RawValue>>,
    pub(super) has_cursor: bool,
    pub(super) level: Option<LogLevel>,
    pub(super) filter: Option<Box<RawValue>>,
    pub(super) input_responses: Option<Box<RawValue>>,
    pub(super) request_state: Option<String>,
    pub(super) progress_token: Option<Box<RawValue>>,
    pub(super) log_level: Option<LogLevel>,
    pub(super) capabilities: Option<Box<RawValue>>,
}

impl<R: Registry> Server<R> {
    pub(super) fn read(
        &self,
        message: &RequestMessage<'_>,
        wire: &Wire<'_>,
    ) -> Result<Request, Rejection> {
        let raw: RawParams<'_> = match message.params {
            None => RawParams::default(),
            Some(params) => serde_json::from_str(params.get())
                .map_err(|_| Rejection::bad_meta("params repeat a member."))?,
        };
        let meta: Meta<'_> = match raw.meta {
            None => Meta::default(),
            Some(meta) => serde_json::from_str(meta.get())
                .map_err(|_| Rejection::bad_meta("params._meta must be an object."))?,
        };
        let name = raw.name.and_then(borrow_str);
        let uri = raw.uri.and_then(borrow_str);
        let handshake = raw.protocol_version.and_then(borrow_str);
        let mirrored = match &*message.method {
            "tools/call" | "prompts/get" => name.as_deref(),
            "resources/read" => uri.as_deref(),
            _ => None,
        };
        let claim = Claim {
            method: &message.method,
            handshake: handshake.as_deref(),
            meta: &meta,
            name: mirrored,
        };
        let revision = decide(&claim, wire)?;
        let method = Method::of(&message.method, revision)
            .ok_or_else(|| Rejection::method_not_found(revision, &message.method))?;
        self.offers(method, revision, &message.method)?;
        let params = self.keep(method, revision, message, &raw, &meta, name, uri)?;
        if let (Wire::Http(head), Method::ToolsCall, true) = (wire, method, revision.is_modern())
            && let (Some(tool), Some(arguments)) = (&params.name, &params.arguments)
        {
            check_parameters(head, self.registry.parameter_headers(tool), arguments)?;
        }
        Ok(Request {
            revision,
            id: message.id.to_owned(),
            method,
            params,
        })
    }

    /// Methods of a feature that is not advertised do not exist.
    fn offers(&self, method: Method, revision: Revision, name: &str) -> Result<(), Rejection> {
        let offered = self.registry.capabilities(revision);
        let exists = match method {
            Method::Initialize | Method::Discover | Method::Ping => true,
            Method::ToolsList | Method::ToolsCall => offered.tools.is_some(),
            Method::PromptsList | Method::PromptsGet => offered.prompts.is_some(),
            Method::ResourcesList | Method::TemplatesList | Method::ResourcesRead => {
                offered.resources.is_some()
            }
            Method::ResourcesSubscribe => offered.resource_updates,
            Method::Complete => offered.completions,
            Method::SetLevel => offered.logging,
            Method::Listen => offered.announces(),
        };
        if exists {
            Ok(())
        } else {
            Err(Rejection::method_not_found(revision, name))
        }
    }

    /// Checks and keeps the parameters that the method reads.
    #[expect(
        clippy::too_many_arguments,
        reason = "all that was read of one message"
    )]
    fn keep(
        &self,
        method: Method,
        revision: Revision,
        message: &RequestMessage<'_>,
        raw: &RawParams<'_>,
        meta: &Meta<'_>,
        name: Option<Cow<'_, str>>,
        uri: Option<Cow<'_, str>>,
    ) -> Result<Params, Rejection> {
        let logging = self.registry.capabilities(revision).logging;
        let mut params = Params {
            name: name.map(Cow::into_owned),
            uri: uri.map(Cow::into_owned),
            has_cursor: raw.cursor.is_some_and(|cursor| cursor.get() != "null"),
            progress_token: progress_token(meta)?,
            log_level: log_level(meta, revision, logging)?,
            ..Params::default()
        };
        if revision.is_modern() {
            params.capabilities = meta.capabilities.map(RawValue::to_owned);
            params.input_responses = raw
                .input_responses
                .filter(|it| is_object(it))
                .map(RawValue::to_owned);
            params.request_state = raw.request_state.and_then(borrow_str).map(Cow::into_owned);
        }
        match method {
            Method::ToolsCall | Method::PromptsGet => {
                if params.name.is_none() {
                    return Err(Rejection::invalid_params("params.name must be a string."));
                }
                if raw.arguments.is_some_and(|arguments| !is_object(arguments)) {
                    return Err(Rejection::invalid_params(
                        "params.arguments must be an object.",
                    ));
                }
                params.arguments = Some(match raw.arguments {
                    Some(arguments) => arguments.to_owned(),
                    None => empty_object(),
                });
            }
            Method::ResourcesRead | Method::ResourcesSubscribe if params.uri.is_none() => {
                return Err(Rejection::invalid_params("params.uri must be a string."));
            }
            Method::Complete => params.arguments = message.params.map(RawValue::to_owned),
            Method::Listen => {
                params.filter = raw.notifications.map(RawValue::to_owned);
            }
            Method::SetLevel => {
                let level = raw
                    .level
                    .and_then(|level| serde_json::from_str(level.get()).ok());
                params.level = Some(level.ok_or_else(|| {
                    Rejection::invalid_params("params.level must be a level of RFC 5424.")
                })?);
            }
            _ => {}
        }
        Ok(params)
    }
}

fn progress_token(meta: &Meta<'_>) -> Result<Option<Box<RawValue>>, Rejection> {
    let Some(token) = meta.progress_token else {
        return Ok(None);
    };
    if token.get().starts_with('"') || token.get().parse::<i64>().is_ok() {
        return Ok(Some(token.to_owned()));
    }
    Err(Rejection::bad_meta(
        "progressToken must be a string or an integer.",
    ))
}

fn log_level(
    meta: &Meta<'_>,
    revision: Revision,
    logging: bool,
) -> Result<Option<LogLevel>, Rejection> {
    if !revision.is_modern() {
        return Ok(logging.then_some(LogLevel::Debug));
    }
    meta.log_level
        .map(|level| {
            serde_json::from_str(level.get())
                .map_err(|_| Rejection::bad_meta("logLevel must be a level of RFC 5424."))
        })
        .transpose()
}

/// What stands for arguments that were not sent.
pub(super) fn empty_object() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
