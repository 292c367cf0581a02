//! Enquiries and reservations: threads between customers and the booking desk.

use postroom_types::Timestamp;

use super::{
    Desk, Mailbox, attachments, dates,
    letter::{Charset, Letter, Person},
    people::{BOOKING_CLERK, CUSTOMERS, Customer, FLEET, Language, Vehicle},
    phrasebook::{Phrases, phrases},
};

/// A reservation that other mails refer to.
#[derive(Debug, Clone)]
pub(super) struct Booking {
    pub(super) reference: String,
    pub(super) customer: Customer,
    pub(super) vehicle: Vehicle,
    pub(super) starts: Timestamp,
    pub(super) days: u32,
    /// The price in pounds without tax.
    pub(super) price: u32,
    /// How long before now the first mail was written, in days.
    pub(super) asked_days_ago: i64,
}

const DAY_MS: i64 = 86_400_000;
/// The place of the thanks among what a customer writes later.
const THANKS: usize = 2;
/// Threads of the booking desk.
const THREADS: u32 = 34;

/// Writes all booking threads; gives back what was booked.
pub(super) fn write(desk: &mut Desk) -> Vec<Booking> {
    (0..THREADS).map(|number| thread(desk, number)).collect()
}

fn thread(desk: &mut Desk, number: u32) -> Booking {
    let asked_days_ago = i64::from(3 + (THREADS - 1 - number) * 5 + desk.random.below(3));
    let customer = CUSTOMERS
        .get(number as usize % CUSTOMERS.len())
        .copied()
        .unwrap_or_default();
    let place = desk.random.below(FLEET.len() as u32) as usize;
    let vehicle = FLEET.get(place).copied().unwrap_or_default();
    let days = desk.random.between(2, 9);
    let starts = desk
        .ago(asked_days_ago, 0)
        .plus_ms(i64::from(desk.random.between(9, 30)) * DAY_MS);
    let booking = Booking {
        reference: format!("BK-{}", 20_417 + number * 13),
        customer,
        vehicle,
        starts,
        days,
        price: vehicle.daily * days,
        asked_days_ago,
    };
    let words = phrases(customer.language);
    let talk = Talk {
        booking: &booking,
        words,
        place,
        desk_person: Person::of(Mailbox::Bookings),
    };
    let enquiry = talk.enquiry(desk);
    let offer = talk.offer(desk, &enquiry);
    let mut letters = vec![enquiry, offer];
    if desk.random.below(8) != 0 {
        letters.push(talk.confirmation(desk, &letters));
        letters.push(talk.receipt(desk, &letters));
        if desk.random.below(3) != 0 {
            letters.push(talk.afterwards(desk, &letters));
        }
    }
    for letter in &letters {
        desk.put(Mailbox::Bookings, letter);
    }
    booking
}

/// One conversation: what it is about and in which words.
struct Talk<'a> {
    booking: &'a Booking,
    words: &'static Phrases,
    place: usize,
    desk_person: Person,
}

impl Talk<'_> {
    fn fill(&self, sentence: &str) -> String {
        let booking = self.booking;
        let ends = booking.starts.plus_ms(i64::from(booking.days) * DAY_MS);
        let day = |at| match booking.customer.language {
            Language::English => dates::long_day(at),
            Language::Japanese | Language::Chinese => dates::iso_day(at),
            _ => dates::dotted_day(at),
        };
        sentence
            .replace(
                "{vehicle}",
                self.words
                    .vehicles
                    .get(self.place)
                    .copied()
                    .unwrap_or_default(),
            )
            .replace("{from}", &day(booking.starts))
            .replace("{to}", &day(ends))
            .replace("{ref}", &booking.reference)
    }

    /// When the letter of a step was written.
    fn at(&self, desk: &mut Desk, step: i64) -> Timestamp {
        let minutes = i64::from(desk.random.below(600));
        desk.ago(self.booking.asked_days_ago, 0)
            .plus_ms((step * 11 * 60 + minutes) * 60_000)
    }

    fn customer_letter(&self, desk: &mut Desk, step: i64, subject: String, body: &str) -> Letter {
        let customer = self.booking.customer;
        let at = self.at(desk, step);
        let text = format!(
            "{}\n\n{body}\n\n{}\n{}\n{}\n",
            self.words.greeting, self.words.closing, customer.name, customer.town
        );
        let mut letter = Letter::new(
            desk,
            &customer.person(),
            &self.desk_person,
            at,
            subject,
            text,
        );
        letter.charset = match (customer.language, desk.random.below(2)) {
            (Language::German | Language::French | Language::Spanish, 0) => Charset::Windows1252,
            (Language::Japanese, 0) => Charset::Iso2022Jp,
            (Language::Chinese, 0) => Charset::Gb18030,
            _ => Charset::Utf8,
        };
        letter
    }

    fn enquiry(&self, desk: &mut Desk) -> Letter {
        let reason = desk.random.pick(&self.words.reasons);
        let question = desk.random.pick(&self.words.questions);
        let body = format!("{}\n{reason}\n\n{question}", self.fill(self.words.enquiry));
        let mut letter = self.customer_letter(desk, 0, self.fill(self.words.subject), &body);
        if desk.random.below(5) == 0 {
            // Some clients send no plain text at all.
            letter.html = letter.text.take().map(|text| html_only(&text));
        }
        letter
    }

    fn offer(&self, desk: &mut Desk, enquiry: &Letter) -> Letter {
        let booking = self.booking;
        let customer = booking.customer;
        let deposit = booking.price / 5;
        let text = format!(
            "Dear {name},\n\nthank you for asking. The {model} ({registration}) is free from {from} for {days} days.\n\
             The hire comes to £{price} plus VAT, with 150 miles a day and a second driver included.\n\
             The excess is £750; for £9 a day we bring it down to £150.\n\n\
             To hold the vehicle, please pay a deposit of £{deposit} and quote {reference}.\n\n{clerk}\nLarkspur Vehicle Hire, booking desk\n\n{quoted}",
            name = customer.name,
            model = booking.vehicle.model,
            registration = booking.vehicle.registration,
            from = dates::long_day(booking.starts),
            days = booking.days,
            price = booking.price,
            reference = booking.reference,
            clerk = BOOKING_CLERK,
            quoted = quoted(enquiry, "On {date}, {name} wrote:"),
        );
        let at = self.at(desk, 1);
        Letter::new(desk, &self.desk_person, &customer.person(), at, "", text).answering(enquiry)
    }

    fn confirmation(&self, desk: &mut Desk, thread: &[Letter]) -> Letter {
        let mut letter =
            self.customer_letter(desk, 2, String::new(), &self.fill(self.words.confirm));
        if let Some(offer) = thread.last() {
            letter.text = letter
                .text
                .map(|text| format!("{text}\n{}", quoted(offer, self.words.quote)));
            letter = letter.answering(offer);
        }
        letter
    }

    fn receipt(&self, desk: &mut Desk, thread: &[Letter]) -> Letter {
        let booking = self.booking;
        let text = format!(
            "Dear {},\n\nyour reservation {} is confirmed: {} ({}), from {} for {} days. The voucher is attached; please bring it with your licence.\n\n{BOOKING_CLERK}\nLarkspur Vehicle Hire, booking desk\n",
            booking.customer.name,
            booking.reference,
            booking.vehicle.model,
            booking.vehicle.registration,
            dates::long_day(booking.starts),
            booking.days,
        );
        let lines = [
            format!("Voucher {}", booking.reference),
            format!(
                "Vehicle: {} {}",
                booking.vehicle.model, booking.vehicle.registration
            ),
            format!(
                "Collect: {} at 08:00, Foundry Lane depot",
                dates::long_day(booking.starts)
            ),
            format!("Paid deposit: GBP {}", booking.price / 5),
        ];
        let at = self.at(desk, 3);
        let mut letter = Letter::new(
            desk,
            &self.desk_person,
            &booking.customer.person(),
            at,
            "",
            text,
        )
        .with(
            format!("voucher-{}.pdf", booking.reference),
            "application/pdf",
            attachments::pdf(&lines),
        )
        .with(
            "collection.ics",
            "text/calendar; method=PUBLISH; charset=utf-8",
            attachments::invitation(
                &format!("{}@{}", booking.reference, super::DOMAIN),
                &self.desk_person.address,
                &format!("Collect {} ({})", booking.vehicle.model, booking.reference),
                "Foundry Lane depot",
                booking.starts,
            ),
        );
        if let Some(last) = thread.last() {
            letter = letter.answering(last);
        }
        letter
    }

    fn afterwards(&self, desk: &mut Desk, thread: &[Letter]) -> Letter {
        let back = self
            .booking
            .starts
            .plus_ms((i64::from(self.booking.days) + 1) * DAY_MS);
        let mut choice = desk.random.below(4) as usize;
        if choice == THANKS && back > desk.now {
            choice = 0;
        }
        let sentence = self.words.later.get(choice).copied().unwrap_or_default();
        let mut letter = self.customer_letter(desk, 5, String::new(), &self.fill(sentence));
        if choice == THANKS {
            letter.at = back;
        }
        if choice == 1 {
            letter = letter.with("licence.gif", "image/gif", attachments::picture());
        }
        if let Some(last) = thread.last() {
            letter = letter.answering(last);
        }
        letter
    }
}

/// The text of a letter with `>` before each line, under the line that a mail client puts above.
pub(super) fn quoted(letter: &Letter, above: &str) -> String {
    let above = above
        .replace("{name}", &letter.from.name)
        .replace("{date}", &dates::long_day(letter.at));
    let text = letter.text.as_deref().unwrap_or_default();
    let lines: Vec<String> = text
        .lines()
        .take(14)
        .map(|line| format!("> {line}"))
        .collect();
    format!("{above}\n{}\n", lines.join("\n"))
}

/// Text as an HTML-only client wraps it.
pub(super) fn html_only(text: &str) -> String {
    let paragraphs: Vec<String> = text
        .split("\n\n")
        .map(|paragraph| {
            format!(
                "<p style=\"margin:0 0 12px\">{}</p>",
                paragraph.trim().replace('\n', "<br>")
            )
        })
        .collect();
    format!(
        "<html><head><style>p{{font-family:sans-serif}}</style></head><body><div>{}</div></body></html>",
        paragraphs.join("\n")
    )
}
