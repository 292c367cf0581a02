//! Mailing lists: the same frame every week, HTML only, with the headers of RFC 2369 and 8058.

use super::{
    Desk, Mailbox, dates,
    letter::{Letter, Person},
};

/// One newsletter: name, address, list id, headlines.
type Newsletter = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

const NEWSLETTERS: &[Newsletter] = &[
    (
        "Fleet Weekly",
        "news@fleetweekly.example",
        "weekly.fleetweekly.example",
        &[
            "Why used vans hold their price",
            "Charging at the depot: what it costs",
            "Five tyres in the wet",
            "New rules for clean air zones",
            "Telematics without tears",
            "What a mild winter does to batteries",
            "Insurance: the small print",
        ],
    ),
    (
        "The Small Firm",
        "editor@thesmallfirm.example",
        "letter.thesmallfirm.example",
        &[
            "Hiring your fifth person",
            "A calendar you can trust",
            "When to say no to a big customer",
            "Late payers: a script",
            "The case for writing less",
            "Pensions in ten minutes",
            "Who opens the post?",
        ],
    ),
    (
        "Reisen im Norden",
        "brief@reisenimnorden.example",
        "brief.reisenimnorden.example",
        &[
            "Leuchttürme an der Westküste",
            "Mit dem Kleinbus nach Orkney",
            "Wandern am Hadrianswall",
            "Zelten im Regen",
            "Whisky ohne Auto",
            "Vier Fähren, zwei Tage",
            "Wohin im Oktober?",
        ],
    ),
];

/// Writes seven issues of each.
pub(super) fn write(desk: &mut Desk) {
    for (place, newsletter) in NEWSLETTERS.iter().enumerate() {
        for issue in 0..7 {
            let mailbox = if place == 0 {
                Mailbox::Bookings
            } else {
                Mailbox::Founder
            };
            let letter = issue_of(desk, newsletter, issue, place as i64, mailbox);
            desk.put(mailbox, &letter);
        }
    }
}

fn issue_of(
    desk: &mut Desk,
    newsletter: &Newsletter,
    issue: usize,
    place: i64,
    mailbox: Mailbox,
) -> Letter {
    let (name, address, list, headlines) = newsletter;
    let at = desk.ago(issue as i64 * 7 + place, 360);
    let headline = headlines.get(issue).copied().unwrap_or_default();
    let others: Vec<String> = headlines
        .iter()
        .filter(|other| **other != headline)
        .take(3)
        .map(|other| {
            format!(
                "<li><a href=\"https://www.{list}/{}\">{other}</a></li>",
                other.len()
            )
        })
        .collect();
    let html = format!(
        "<!doctype html><html><head><title>{name}</title><style>.pre{{display:none}}</style></head><body>\
         <div class=\"pre\" style=\"display:none\">{headline} and more inside</div>\
         <table width=\"600\"><tr><td><h1>{headline}</h1><p>{name}, {day}</p>\
         <p>This week we look at one question in depth, with figures from forty readers who sent us their books.</p>\
         <ul>{}</ul><img src=\"https://pixel.{list}/o.gif?r={issue}\" width=\"1\" height=\"1\" alt=\"\">\
         <p><a href=\"https://www.{list}/unsubscribe\">Unsubscribe</a></p></td></tr></table></body></html>",
        others.join(""),
        day = dates::long_day(at),
    );
    let mut letter = Letter::new(
        desk,
        &Person::new(name, address),
        &Person::of(mailbox),
        at,
        headline,
        "",
    )
    .header("List-Id", format!("{name} <{list}>").replace('ü', "ue"))
    .header(
        "List-Unsubscribe",
        format!("<https://www.{list}/unsubscribe?i={issue}>"),
    )
    .header("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
    .header("Precedence", "bulk");
    letter.text = None;
    letter.html = Some(html);
    letter
}
