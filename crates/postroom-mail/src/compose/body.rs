//! The texts of a mail: the words, the signature, what must be said, the older mail.

use std::borrow::Cow;

use super::{Disclosure, Outgoing, Signature, encode};

/// Text and HTML as they are written.
pub(super) struct Body {
    pub(super) text: String,
    pub(super) html: Option<String>,
}

/// Said when the policy gives no words of its own.
const DISCLOSURE: &str = "This message was written by an AI agent.";

pub(super) fn write(outgoing: &Outgoing) -> Body {
    let content = &outgoing.content;
    let given = content
        .text
        .as_deref()
        .filter(|text| !text.trim().is_empty());
    let words: Cow<'_, str> = match (given, &content.html) {
        (Some(text), _) => with_feeds(text),
        (None, Some(html)) => crate::html_to_text(html).text.into(),
        (None, None) => "".into(),
    };
    let ending = Ending::of(outgoing);
    let mut text = words.trim_end().to_owned();
    for piece in ending.text(&text) {
        join(&mut text, &piece);
    }
    if let Some(history) = &content.history {
        join(&mut text, with_feeds(&history.text).trim_end());
    }
    text.push('\n');
    Body {
        html: html(outgoing, &words, &ending),
        text,
    }
}

/// The HTML: given, or made around the HTML of an older mail; `None` otherwise.
fn html(outgoing: &Outgoing, words: &str, ending: &Ending<'_>) -> Option<String> {
    let content = &outgoing.content;
    let history = content.history.as_ref();
    let given = content
        .html
        .as_deref()
        .filter(|html| !html.trim().is_empty());
    let mut html = match (given, history.and_then(|history| history.html.as_ref())) {
        (Some(html), _) => with_feeds(html).into_owned(),
        (None, Some(_)) if words.trim().is_empty() => String::new(),
        (None, Some(_)) => format!("<div>{}</div>\n", encode::html(words.trim_end())),
        (None, None) => return None,
    };
    let mut below = ending.html(&html);
    if let Some(history) = history {
        match &history.html {
            Some(older) => below.push_str(&with_feeds(older)),
            None => {
                below.push_str(&format!("<div>{}</div>\n", encode::html(&history.text)));
            }
        }
    }
    html.insert_str(end_of_body(&html), &below);
    Some(html)
}

/// In front of the last `</body>`, else `</html>`, else the end.
fn end_of_body(html: &str) -> usize {
    let lower = html.to_ascii_lowercase();
    lower
        .rfind("</body")
        .or_else(|| lower.rfind("</html"))
        .unwrap_or(html.len())
}

/// With line feeds alone.
fn with_feeds(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        text.replace("\r\n", "\n").replace('\r', "\n").into()
    } else {
        text.into()
    }
}

fn join(text: &mut String, piece: &str) {
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(piece);
}

/// What stands under the words, in this order: signature, disclosure, the way out.
struct Ending<'a> {
    signature: Option<SignatureTexts<'a>>,
    footer: Option<&'a str>,
    unsubscribe: Option<&'a str>,
}

struct SignatureTexts<'a> {
    text: Cow<'a, str>,
    html: Cow<'a, str>,
}

impl<'a> Ending<'a> {
    fn of(outgoing: &'a Outgoing) -> Self {
        Self {
            signature: outgoing.signature.as_ref().and_then(signature),
            footer: match &outgoing.disclosure {
                Disclosure::Footer(text) if text.trim().is_empty() => Some(DISCLOSURE),
                Disclosure::Footer(text) => Some(text.trim()),
                Disclosure::None | Disclosure::Header => None,
            },
            unsubscribe: outgoing.unsubscribe.as_ref().map(|way| way.url()),
        }
    }

    /// The pieces of text; the way out only when `words` do not name it.
    fn text(&self, words: &str) -> Vec<String> {
        let signature = self
            .signature
            .as_ref()
            .map(|it| format!("-- \n{}", it.text));
        let footer = self.footer.map(|footer| with_feeds(footer).into_owned());
        let way = self.unsubscribe.filter(|url| !words.contains(url));
        let way = way.map(|url| format!("Unsubscribe: {url}"));
        signature.into_iter().chain(footer).chain(way).collect()
    }

    fn html(&self, words: &str) -> String {
        let mut out = String::new();
        if let Some(signature) = &self.signature {
            out.push_str(&format!("<div>-- <br>\n{}</div>\n", signature.html));
        }
        if let Some(footer) = self.footer {
            out.push_str(&format!("<p>{}</p>\n", encode::html(&with_feeds(footer))));
        }
        if let Some(url) = self.unsubscribe {
            let escaped = encode::html(url);
            if !words.contains(url) && !words.contains(&escaped) {
                out.push_str(&format!("<p><a href=\"{escaped}\">Unsubscribe</a></p>\n"));
            }
        }
        out
    }
}

/// Both forms of a signature; `None` when it says nothing.
fn signature(signature: &Signature) -> Option<SignatureTexts<'_>> {
    let full = |text: &'_ Option<String>| text.as_deref().is_some_and(|t| !t.trim().is_empty());
    let text = signature.text.as_deref().filter(|_| full(&signature.text));
    let html = signature.html.as_deref().filter(|_| full(&signature.html));
    let text: Cow<'_, str> = match (text, html) {
        (Some(text), _) => with_feeds(text),
        (None, Some(html)) => crate::html_to_text(html).text.into(),
        (None, None) => return None,
    };
    // The separator is written once.
    let bare = text.trim_start_matches("-- \n").trim_end().to_owned();
    let html = match html {
        Some(html) => with_feeds(html),
        None => encode::html(&bare).into(),
    };
    Some(SignatureTexts {
        text: bare.into(),
        html,
    })
}
