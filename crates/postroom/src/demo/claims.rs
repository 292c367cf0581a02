//! Damage reports and what insurers, garages and hirers write about them.

use super::{
    Desk, Mailbox, attachments,
    bookings::{Booking, quoted},
    dates,
    letter::{Charset, Letter, Person},
    people::{CLAIMS_CLERK, Language},
};

/// What happened, where it shows, what the garage says it costs in pounds.
const ACCIDENTS: &[(&str, &str, u32)] = &[
    (
        "A lorry clipped the mirror while we were parked outside the hall.",
        "nearside mirror",
        214,
    ),
    (
        "I reversed into a bollard at the ferry terminal; nobody was hurt.",
        "rear bumper",
        486,
    ),
    (
        "A stone cracked the windscreen on the motorway near Tebay.",
        "windscreen",
        395,
    ),
    (
        "Someone scratched the sliding door in a supermarket car park.",
        "sliding door",
        328,
    ),
    (
        "The tail lift stopped halfway with the piano on it.",
        "tail lift",
        742,
    ),
    (
        "A deer ran out; the headlamp and the wing are broken.",
        "front wing and headlamp",
        1_184,
    ),
    (
        "The awning was torn off by the wind on the second night.",
        "awning",
        267,
    ),
    (
        "Another driver hit us from behind at a roundabout in Kendal.",
        "rear doors",
        1_526,
    ),
    (
        "The wrong fuel went in at the pump and the engine stopped.",
        "fuel system",
        638,
    ),
    (
        "We found a flat tyre and a bent rim after a pothole.",
        "wheel and tyre",
        189,
    ),
    (
        "The roof touched a barrier at the multi-storey car park.",
        "roof edge",
        905,
    ),
    (
        "A child dropped a drink over the display and it went dark.",
        "centre display",
        544,
    ),
];

const INSURERS: &[(&str, &str)] = &[
    ("Pennant Mutual Claims", "claims@pennantmutual.example"),
    ("Harrow & Quill Insurance", "motor@harrowquill.example"),
    ("Castellan Versicherung", "schaden@castellan.example"),
];

const GARAGES: &[(&str, &str)] = &[
    ("Whitlock Body Repairs", "estimates@whitlockbody.example"),
    ("Tyne Glass and Trim", "office@tyneglass.example"),
    (
        "Moorside Commercials",
        "service@moorsidecommercials.example",
    ),
];

/// Writes one thread for every second or third booking.
pub(super) fn write(desk: &mut Desk, bookings: &[Booking]) {
    let damaged = bookings
        .iter()
        .filter(|booking| booking.asked_days_ago > 20);
    for (number, (booking, accident)) in damaged.zip(ACCIDENTS.iter().cycle()).enumerate().take(17)
    {
        let claim = Claim {
            booking,
            accident,
            reference: format!("CLM-{}-{:05}", dates::year(desk.now), 417 + number * 6),
            insurer: person(desk, INSURERS),
            garage: person(desk, GARAGES),
            desk_person: Person::of(Mailbox::Claims),
            days_ago: (booking.asked_days_ago - 14).max(4),
        };
        claim.write(desk);
    }
}

fn person(desk: &mut Desk, people: &[(&'static str, &'static str)]) -> Person {
    let (name, address) = desk.random.pick(people);
    Person::new(name, address)
}

struct Claim<'a> {
    booking: &'a Booking,
    accident: &'a (&'static str, &'static str, u32),
    reference: String,
    insurer: Person,
    garage: Person,
    desk_person: Person,
    days_ago: i64,
}

impl Claim<'_> {
    fn write(&self, desk: &mut Desk) {
        let report = self.report(desk);
        let answer = self.acknowledgement(desk, &report);
        let estimate = self.estimate(desk);
        let mut letters = vec![report, answer, estimate];
        if desk.random.below(4) != 0 {
            letters.push(self.decision(desk));
        }
        for letter in &letters {
            desk.put(Mailbox::Claims, letter);
        }
    }

    fn report(&self, desk: &mut Desk) -> Letter {
        let (story, part, _) = self.accident;
        let booking = self.booking;
        let opening = match booking.customer.language {
            Language::German => "Guten Tag, ich schreibe lieber auf Englisch.\n\n",
            Language::French => "Bonjour, j'écris en anglais pour aller plus vite.\n\n",
            Language::Polish => "Dzień dobry, piszę po angielsku.\n\n",
            Language::Swedish => "Hej, jag skriver på engelska.\n\n",
            _ => "",
        };
        let text = format!(
            "{opening}I have to report damage to {registration} ({reference}): {part}.\n{story}\n\nPictures are attached. Please tell me what happens next and whether the excess applies.\n\n{name}\n",
            registration = booking.vehicle.registration,
            reference = booking.reference,
            name = booking.customer.name,
        );
        let subject = format!(
            "Damage to {} on booking {}",
            booking.vehicle.registration, booking.reference
        );
        let at = desk.ago(self.days_ago, 500);
        let mut letter = Letter::new(
            desk,
            &booking.customer.person(),
            &self.desk_person,
            at,
            subject,
            text,
        )
        .with("damage-1.gif", "image/gif", attachments::picture())
        .with("damage-2.gif", "image/gif", attachments::picture());
        if booking.customer.language == Language::German {
            letter.charset = Charset::Windows1252;
        }
        letter
    }

    fn acknowledgement(&self, desk: &mut Desk, report: &Letter) -> Letter {
        let text = format!(
            "Dear {},\n\nthank you for telling us. Your claim number is {}; please quote it from now on.\n\
             {} will look at the vehicle this week. Until the insurer decides we hold the excess of £750.\n\n{CLAIMS_CLERK}\nLarkspur Vehicle Hire, claims\n\n{}",
            self.booking.customer.name,
            self.reference,
            self.garage.name,
            quoted(report, "On {date}, {name} wrote:"),
        );
        let at = desk.ago(self.days_ago, 300);
        Letter::new(
            desk,
            &self.desk_person,
            &self.booking.customer.person(),
            at,
            "",
            text,
        )
        .answering(report)
    }

    fn estimate(&self, desk: &mut Desk) -> Letter {
        let (_, part, cost) = self.accident;
        let labour = cost * 2 / 5;
        let text = format!(
            "Estimate for {} (your claim {}):\n\n  {part}, parts: £{}\n  labour: £{labour}\n  total without VAT: £{cost}\n\nWe can start on Monday if you approve by Friday noon.\n\n{}\n",
            self.booking.vehicle.registration,
            self.reference,
            cost - labour,
            self.garage.name,
        );
        let rows = [
            format!("{part} parts,1,{}", cost - labour),
            format!("labour hours,{},{labour}", labour / 38 + 1),
        ];
        let subject = format!(
            "Estimate {} / {}",
            self.reference, self.booking.vehicle.registration
        );
        let at = desk.ago(self.days_ago - 1, 700);
        Letter::new(desk, &self.garage, &self.desk_person, at, subject, text).with(
            format!("estimate-{}.csv", self.reference),
            "text/csv; charset=utf-8",
            attachments::csv("item,quantity,pounds", &rows),
        )
    }

    fn decision(&self, desk: &mut Desk) -> Letter {
        let (_, part, cost) = self.accident;
        let paid = cost.saturating_sub(250);
        let ours = format!("PM{}", 700_000 + cost * 17);
        let verdict = if desk.random.below(3) == 0 {
            format!(
                "We cannot accept the claim for the {part}, because the hire agreement excludes it. You may appeal within 28 days."
            )
        } else {
            format!(
                "We accept the claim and will pay £{paid} for the {part} within ten working days."
            )
        };
        let text = format!(
            "Our reference: {ours}\nYour reference: {}\nVehicle: {}\n\n{verdict}\n\n{}\n",
            self.reference, self.booking.vehicle.registration, self.insurer.name
        );
        let subject = format!("Decision on {} (our ref {ours})", self.reference);
        let at = desk.ago(self.days_ago - 3, 200);
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut letter = Letter::new(
            desk,
            &self.insurer,
            &self.desk_person,
            at,
            subject,
            text.clone(),
        );
        letter.html = Some(super::bookings::html_only(&text));
        letter.with(
            format!("decision-{ours}.pdf"),
            "application/pdf",
            attachments::pdf(&lines),
        )
    }
}
