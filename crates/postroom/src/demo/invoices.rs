//! Invoices in and out: suppliers with nearly the same letter every month, customers who pay.

use super::{
    Desk, Mailbox, attachments,
    bookings::{Booking, html_only},
    dates,
    letter::{Letter, Person},
    people::BOOKKEEPER,
};

/// What one supplier sends: name, address, what for, base amount in pence, prefix of its numbers.
#[derive(Debug, Clone, Copy)]
struct Supplier {
    name: &'static str,
    address: &'static str,
    service: &'static str,
    pence: u32,
    prefix: &'static str,
    html: bool,
}

const SUPPLIERS: &[Supplier] = &[
    Supplier {
        name: "Northgate Fuels",
        address: "billing@northgatefuels.example",
        service: "diesel, depot tank",
        pence: 184_220,
        prefix: "NF",
        html: false,
    },
    Supplier {
        name: "Calder Telecom",
        address: "invoices@caldertelecom.example",
        service: "lines and broadband",
        pence: 11_940,
        prefix: "CT-",
        html: true,
    },
    Supplier {
        name: "Whitlock Body Repairs",
        address: "accounts@whitlockbody.example",
        service: "body work",
        pence: 64_800,
        prefix: "WBR/",
        html: false,
    },
    Supplier {
        name: "Reinhold Reifen GmbH",
        address: "rechnung@reinhold-reifen.example",
        service: "Reifen und Montage",
        pence: 92_350,
        prefix: "RE",
        html: false,
    },
    Supplier {
        name: "Foundry Lane Estates",
        address: "rents@foundrylane.example",
        service: "rent of the depot",
        pence: 325_000,
        prefix: "FLE-",
        html: false,
    },
    Supplier {
        name: "Brackley Cleaning",
        address: "office@brackleycleaning.example",
        service: "vehicle cleaning",
        pence: 41_760,
        prefix: "BC",
        html: true,
    },
    Supplier {
        name: "Société Lavandier",
        address: "facturation@lavandier.example",
        service: "logiciel de réservation",
        pence: 23_900,
        prefix: "F",
        html: true,
    },
];

/// Writes six months of supplier invoices, reminders, payments and bank statements.
pub(super) fn write(desk: &mut Desk, bookings: &[Booking]) {
    for month in 0..6 {
        for (place, supplier) in SUPPLIERS.iter().enumerate() {
            invoice(desk, *supplier, month, place as i64);
        }
        statement(desk, month);
    }
    for booking in bookings
        .iter()
        .filter(|booking| booking.asked_days_ago > 25)
        .step_by(2)
    {
        own_invoice(desk, booking);
    }
}

/// Pence as pounds with two digits.
fn pounds(pence: u32) -> String {
    format!("£{}.{:02}", pence / 100, pence % 100)
}

fn invoice(desk: &mut Desk, supplier: Supplier, month: i64, place: i64) {
    let days = month * 30 + 4 + place;
    let minutes = i64::from(desk.random.below(400));
    let at = desk.ago(days, minutes);
    let number = format!("{}{}", supplier.prefix, 5_200 + (6 - month) * 37 + place);
    let amount = supplier.pence + desk.random.below(supplier.pence / 8);
    let due = dates::long_day(at.plus_ms(21 * 86_400_000));
    let text = match supplier.prefix {
        "RE" => format!(
            "Sehr geehrte Damen und Herren,\n\nanbei erhalten Sie die Rechnung {number} über {} für {} im {}.\nZahlbar bis {}.\n\nMit freundlichen Grüßen\nReinhold Reifen GmbH\n",
            pounds(amount),
            supplier.service,
            dates::month(at),
            dates::dotted_day(at.plus_ms(21 * 86_400_000))
        ),
        "F" => format!(
            "Bonjour,\n\nVeuillez trouver ci-joint la facture {number} d'un montant de {} ({}).\nÉchéance : {}.\n\nLe service comptable\n",
            pounds(amount),
            supplier.service,
            dates::dotted_day(at.plus_ms(21 * 86_400_000))
        ),
        _ => format!(
            "Please find attached invoice {number} for {} in {}.\n\nAmount: {}\nDue: {due}\nYour account: LARK-0{}\n\n{}\n",
            supplier.service,
            dates::month(at),
            pounds(amount),
            31 + place,
            supplier.name
        ),
    };
    let lines = [
        format!("Invoice {number}"),
        format!("For: {}", supplier.service),
        format!("Amount: GBP {}.{:02}", amount / 100, amount % 100),
        format!("Due: {due}"),
    ];
    let from = Person::new(supplier.name, supplier.address);
    let to = Person::of(Mailbox::Accounts);
    let subject = format!("Invoice {number} from {}", supplier.name);
    let mut letter = Letter::new(desk, &from, &to, at, subject, text).with(
        format!("{}.pdf", number.replace('/', "-")),
        "application/pdf",
        attachments::pdf(&lines),
    );
    if supplier.html {
        letter.html = letter.text.take().map(|text| html_only(&text));
    }
    desk.put(Mailbox::Accounts, &letter);
    if month > 0 && (month + place) % 5 == 0 {
        reminder(desk, &letter, &number, amount);
    }
}

fn reminder(desk: &mut Desk, invoice: &Letter, number: &str, amount: u32) {
    let at = invoice.at.plus_ms(24 * 86_400_000);
    if at > desk.now {
        return;
    }
    let text = format!(
        "We have not yet received {} for invoice {number}. If the payment crossed with this mail, please disregard it.\n\n{}\n",
        pounds(amount),
        invoice.from.name
    );
    let letter = Letter::new(
        desk,
        &invoice.from,
        &Person::of(Mailbox::Accounts),
        at,
        "",
        text,
    )
    .answering(invoice);
    let paid = Letter::new(
        desk,
        &Person::of(Mailbox::Accounts),
        &invoice.from,
        at.plus_ms(5_400_000),
        "",
        format!(
            "Paid today by transfer, reference {number}. Sorry for the delay.\n\n{BOOKKEEPER}\n"
        ),
    )
    .answering(&letter);
    desk.put(Mailbox::Accounts, &letter);
    desk.put(Mailbox::Accounts, &paid);
}

fn statement(desk: &mut Desk, month: i64) {
    let at = desk.ago(month * 30 + 1, 240);
    let rows: Vec<String> = (0..8)
        .map(|row| {
            let amount = desk.random.between(4_000, 220_000);
            let kind = if row % 3 == 0 {
                "transfer in"
            } else {
                "direct debit"
            };
            format!(
                "{},{kind},{}.{:02}",
                dates::iso_day(at.plus_ms(-row * 86_400_000)),
                amount / 100,
                amount % 100
            )
        })
        .collect();
    let text = format!(
        "Your statement for {} is ready; the movements are attached as CSV.\n\nTarn Bank\n",
        dates::month(at)
    );
    let from = Person::new("Tarn Bank", "statements@tarnbank.example");
    let letter = Letter::new(
        desk,
        &from,
        &Person::of(Mailbox::Accounts),
        at,
        format!("Statement {}", dates::month(at)),
        text,
    )
    .header("Auto-Submitted", "auto-generated")
    .with(
        format!("statement-{}.csv", dates::iso_day(at)),
        "text/csv; charset=utf-8",
        attachments::csv("date,kind,amount", &rows),
    );
    desk.put(Mailbox::Accounts, &letter);
}

fn own_invoice(desk: &mut Desk, booking: &Booking) {
    let number = format!("LKS-{}", booking.reference.trim_start_matches("BK-"));
    let at = desk.ago(booking.asked_days_ago - 20, 90);
    let gross = booking.price * 120;
    let text = format!(
        "Dear {},\n\nattached is invoice {number} for booking {} ({}). Total with VAT: {}. Thank you for travelling with us.\n\n{BOOKKEEPER}\nLarkspur Vehicle Hire, accounts\n",
        booking.customer.name,
        booking.reference,
        booking.vehicle.registration,
        pounds(gross)
    );
    let customer = booking.customer.person();
    let office = Person::of(Mailbox::Accounts);
    let lines = [
        format!("Invoice {number}"),
        format!("Booking {}", booking.reference),
        format!("Total GBP {}.{:02}", gross / 100, gross % 100),
    ];
    let letter = Letter::new(
        desk,
        &office,
        &customer,
        at,
        format!("Invoice {number} for {}", booking.reference),
        text,
    )
    .with(
        format!("{number}.pdf"),
        "application/pdf",
        attachments::pdf(&lines),
    );
    let answer = Letter::new(
        desk,
        &customer,
        &office,
        at.plus_ms(30 * 3_600_000),
        "",
        format!(
            "Hello {}, the amount of {} for {number} went out today.\n\n{}\n",
            "Mei-Lin",
            pounds(gross),
            customer.first_name()
        ),
    )
    .answering(&letter);
    desk.put(Mailbox::Accounts, &letter);
    if answer.at <= desk.now {
        desk.put(Mailbox::Accounts, &answer);
    }
}
