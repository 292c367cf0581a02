//! The founder's mail, and what machines send to everybody.

use super::{
    Desk, Mailbox, attachments, dates,
    letter::{Letter, Person, multipart},
};

/// A conversation of the founder: with whom, about what, and its letters; `>` begins hers.
type Conversation = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

const CONVERSATIONS: &[Conversation] = &[
    (
        "Rosalind Achebe",
        "rosalind@greywetherpartners.example",
        "Term sheet for the second depot",
        &[
            "Ada,\n\nthe partners met this morning. We would put in £400,000 for 12 per cent, with a seat for me and the usual vetoes. The draft is attached; the offer stands until the end of next week.\n\nRosalind",
            ">Rosalind,\n\nthank you. Twelve is more than we had in mind. With 9 per cent and no veto on vehicle leases I could bring it to my co-owner tomorrow.\n\nAda",
            "Ten, and the veto only above £60,000 a year. That is where I can go without a new vote.\n\nRosalind",
            ">Agreed. Please have the lawyers write it up.\n\nAda",
        ],
    ),
    (
        "Gareth Pugh",
        "gareth.pugh@pughharrison.example",
        "Lease of unit 7, Foundry Lane",
        &[
            "Dear Ms Lindqvist,\n\nthe landlord accepts a break clause after three years but wants six months' notice. Rent is £39,000 a year with a review in year four. May I answer yes?\n\nGareth Pugh\nPugh Harrison Solicitors",
            ">Dear Mr Pugh,\n\nyes to the break clause. Please ask for four months' notice first, and settle at six.\n\nAda Lindqvist",
            "They took five. I send the engrossed lease on Thursday for signature.\n\nGareth Pugh",
        ],
    ),
    (
        "Ingrid Solheim",
        "ingrid.solheim@fjordferje.example",
        "Joint tickets: ferry and hire",
        &[
            "Hei Ada,\n\nwe could sell your camper vans with our crossings from April. My idea: eight per cent for us, one voucher for the guest. Shall we meet in Bergen?\n\nIngrid",
            ">Hei Ingrid,\n\nwith pleasure. I could come in the second week of February. Eight is fine if you carry the card fees.\n\nAda",
            "Good. I book a room for the 11th and bring Lars from sales.\n\nIngrid",
        ],
    ),
    (
        "Noor Haddad",
        "noor.haddad@haddadwrites.example",
        "Application: operations lead",
        &[
            "Dear Ada,\n\nI ran the night shift at a parcel hub for six years and would like to run your depots. My notice period is two months. The curriculum vitae is attached.\n\nNoor Haddad",
            ">Dear Noor,\n\nyour letter made me smile; please come on Wednesday at two. Nell and Idris would like to meet you as well.\n\nAda",
            "Wednesday at two is good. Should I prepare anything about the rota?\n\nNoor",
            ">Only your opinion of ours, which I attach.\n\nAda",
        ],
    ),
    (
        "Björn Lindqvist",
        "bjorn@lindqvist-familj.example",
        "Mammas sjuttioårsdag",
        &[
            "Hej syster,\n\njag har bokat båthuset den 14:e. Kan du ta med kameran och tala om för mig om barnen äter fisk?\n\nBjörn",
            ">Hej,\n\nfisk går bra, men inte räkor. Jag tar kameran och en tårta.\n\nAda",
        ],
    ),
    (
        "Maude Ellery",
        "maude.ellery@council.norbury.example",
        "Licensing of the yard at Foundry Lane",
        &[
            "Dear Madam,\n\nyour application NL/2287 for washing vehicles on the yard lacks a drainage plan. Please send one within fourteen days.\n\nM. Ellery, licensing",
            ">Dear Ms Ellery,\n\nthe plan is attached. Our engineer is happy to walk the yard with you.\n\nAda Lindqvist",
            "Thank you. The committee sits on the 19th; I recommend approval of NL/2287.\n\nM. Ellery",
        ],
    ),
    (
        "Kenji Mori",
        "mori@kansaitours.example",
        "春のツアーについて",
        &[
            "リンドクヴィスト様\n\n来春、二十名の団体を三回お送りしたいと考えております。九人乗りを三台、四月から六月まで確保できますでしょうか。\n\n森 健二",
            ">森様\n\nご連絡ありがとうございます。三台とも確保できます。四月は一日九パーセント引きでいかがでしょうか。\n\nAda Lindqvist",
            "承知いたしました。来週、契約書をお送りします。\n\n森",
        ],
    ),
];

/// Writes conversations, invitations, alerts, bounces and replies of machines.
pub(super) fn write(desk: &mut Desk) {
    for (number, conversation) in CONVERSATIONS.iter().enumerate() {
        talk(desk, conversation, number as i64);
    }
    for number in 0..5 {
        meeting(desk, number);
    }
    for number in 0..8 {
        alert(desk, number);
    }
    for number in 0..5 {
        absence(desk, number);
        delivery(desk, number);
        bounce(desk, number);
    }
}

fn talk(desk: &mut Desk, conversation: &Conversation, number: i64) {
    let (name, address, subject, letters) = conversation;
    let (other, ada) = (Person::new(name, address), Person::of(Mailbox::Founder));
    let mut thread: Vec<Letter> = Vec::new();
    for (step, text) in letters.iter().enumerate() {
        let at = desk
            .ago(6 + number * 17, 0)
            .plus_ms(step as i64 * 19 * 3_600_000);
        let (from, to, text) = match text.strip_prefix('>') {
            Some(text) => (&ada, &other, text),
            None => (&other, &ada, *text),
        };
        let mut letter = Letter::new(desk, from, to, at, *subject, text);
        if let Some(last) = thread.last() {
            letter = letter.answering(last);
        }
        if text.contains("attached") {
            let lines: Vec<String> = std::iter::once((*subject).to_owned())
                .filter(|line| line.is_ascii())
                .collect();
            letter = letter.with("document.pdf", "application/pdf", attachments::pdf(&lines));
        }
        desk.put(Mailbox::Founder, &letter);
        thread.push(letter);
    }
}

fn meeting(desk: &mut Desk, number: i64) {
    let topics = [
        "Depot walk-through",
        "Quarterly figures",
        "Fleet purchase: three minibuses",
        "Website photographs",
        "Winter rota",
    ];
    let topic = topics.get(number as usize).copied().unwrap_or_default();
    let at = desk.ago(number * 12 + 2, 480);
    let starts = at.plus_ms(4 * 86_400_000);
    let nell = Person::new("Nell Harper", "nell.harper@larkspur.example");
    let calendar = attachments::invitation(
        &format!("meeting-{number}@{}", super::DOMAIN),
        &nell.address,
        topic,
        "Room above the workshop",
        starts,
    );
    let letter = Letter::new(
        desk,
        &nell,
        &Person::of(Mailbox::Founder),
        at,
        format!("Invitation: {topic}"),
        format!(
            "{topic}, {}, room above the workshop.\n",
            dates::long_day(starts)
        ),
    )
    .with(
        "invite.ics",
        "text/calendar; method=REQUEST; charset=utf-8",
        calendar,
    );
    desk.put(Mailbox::Founder, &letter);
}

fn alert(desk: &mut Desk, number: i64) {
    let registration = desk.random.pick(super::people::FLEET).registration;
    let kinds = [
        "left the agreed area near Carlisle",
        "reports low tyre pressure, front left",
        "battery at 11 per cent",
        "service due in 400 miles",
    ];
    let kind = kinds
        .get(number as usize % kinds.len())
        .copied()
        .unwrap_or_default();
    let at = desk.ago(number * 5, 77 * (number + 1));
    let from = Person::new("Wayfinder Telematics", "noreply@wayfinder.example");
    let text = format!(
        "Vehicle {registration} {kind}.\nEvent {}, recorded {}.\n",
        880_100 + number * 7,
        dates::iso_day(at)
    );
    let letter = Letter::new(
        desk,
        &from,
        &Person::of(Mailbox::Bookings),
        at,
        format!("[Wayfinder] {registration}: {kind}"),
        text,
    )
    .header("Auto-Submitted", "auto-generated")
    .header("X-Auto-Response-Suppress", "All");
    desk.put(Mailbox::Bookings, &letter);
}

fn absence(desk: &mut Desk, number: i64) {
    let replies = [
        (
            "Tom Hesketh",
            "tom@heskethfilms.example",
            "Out of office: Invoice",
            "I am on location until Monday and read mail once a day. For anything urgent call the studio.\n\nTom",
        ),
        (
            "Sabine Vogt",
            "sabine.vogt@vogt-messebau.example",
            "Abwesenheitsnotiz: Ihre Rechnung",
            "Vielen Dank für Ihre Nachricht. Ich bin bis zum Monatsende nicht im Büro.\n\nSabine Vogt",
        ),
        (
            "Camille Roussel",
            "camille@roussel-traiteur.example",
            "Réponse automatique : facture",
            "Je suis absente jusqu'à lundi. Merci de votre patience.\n\nCamille",
        ),
        (
            "Anna Sjögren",
            "anna.sjogren@sjogrenfoto.example",
            "Autosvar: faktura",
            "Jag är på resa och svarar nästa vecka.\n\nAnna",
        ),
        (
            "Calder Telecom",
            "support@caldertelecom.example",
            "We have received your request 55172",
            "Your request 55172 has been received. We answer within two working days.\n",
        ),
    ];
    let Some((name, address, subject, text)) = replies.get(number as usize).copied() else {
        return;
    };
    let at = desk.ago(number * 9 + 3, 130);
    let letter = Letter::new(
        desk,
        &Person::new(name, address),
        &Person::of(Mailbox::Accounts),
        at,
        subject,
        text,
    )
    .header("Auto-Submitted", "auto-replied")
    .header("Precedence", "auto_reply");
    desk.put(Mailbox::Accounts, &letter);
}

fn delivery(desk: &mut Desk, number: i64) {
    let parcel = format!("GX{:09}GB", 417_220_113 + number * 91_377);
    let items = [
        "a roof rack",
        "12 first aid kits",
        "two child seats",
        "wiper blades",
        "a charging cable",
    ];
    let item = items.get(number as usize).copied().unwrap_or_default();
    let at = desk.ago(number * 11 + 1, 610);
    let from = Person::new("Swiftlet Parcels", "tracking@swiftlet.example");
    let html = format!(
        "<html><body><h2>Your parcel is on its way</h2><p>{item} from Axle &amp; Co. Number <b>{parcel}</b>, expected {}.</p>\
         <p><a href=\"https://swiftlet.example/t/{parcel}\">Follow it</a></p></body></html>",
        dates::long_day(at.plus_ms(2 * 86_400_000))
    );
    let mut letter = Letter::new(
        desk,
        &from,
        &Person::of(Mailbox::Founder),
        at,
        format!("Parcel {parcel} is on its way"),
        "",
    )
    .header("Auto-Submitted", "auto-generated");
    letter.text = None;
    letter.html = Some(html);
    desk.put(Mailbox::Founder, &letter);
}

/// A report of failed delivery (RFC 3464).
fn bounce(desk: &mut Desk, number: i64) {
    let recipient = [
        "old.address@fernbridge.example",
        "info@closedshop.example",
        "j.doe@contiviaggi.example",
        "rota@heskethfilms.example",
        "office@vogt-messebau.example",
    ]
    .get(number as usize)
    .copied()
    .unwrap_or_default();
    let at = desk.ago(number * 14 + 5, 20);
    let domain = recipient.rsplit_once('@').map_or("", |(_, domain)| domain);
    let id = desk.message_id(domain);
    let original = desk.message_id(super::DOMAIN);
    let date = dates::rfc2822(at);
    let status = if number % 2 == 0 {
        ("failed", "5.1.1", "550 5.1.1 no such mailbox")
    } else {
        ("delayed", "4.2.2", "452 4.2.2 mailbox full")
    };
    let boundary = format!("=_report_{number}");
    let body = multipart(
        &format!("report; report-type=delivery-status; x={number}"),
        &boundary,
        &[
            format!("Content-Type: text/plain; charset=utf-8\r\n\r\nYour message to {recipient} could not be delivered.\r\nThe server said: {}\r\n", status.2).into_bytes(),
            format!(
                "Content-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.{domain}\r\n\r\nFinal-Recipient: rfc822; {recipient}\r\nAction: {}\r\nStatus: {}\r\nDiagnostic-Code: smtp; {}\r\n\r\n",
                status.0, status.1, status.2
            )
            .into_bytes(),
            format!("Content-Type: text/rfc822-headers\r\n\r\nFrom: bookings@larkspur.example\r\nTo: {recipient}\r\nSubject: Your reservation\r\nMessage-ID: <{original}>\r\n\r\n").into_bytes(),
        ],
    );
    let mut raw = format!(
        "Received: from mx.{domain} (mx.{domain} [192.0.2.44])\r\n\tby mail.larkspur.example with ESMTP id b{number};\r\n\t{date}\r\n\
         Return-Path: <>\r\nFrom: Mail Delivery System <mailer-daemon@{domain}>\r\nTo: bookings@larkspur.example\r\n\
         Subject: Undelivered mail returned to sender\r\nDate: {date}\r\nMessage-ID: <{id}>\r\nAuto-Submitted: auto-replied\r\n\
         In-Reply-To: <{original}>\r\nReferences: <{original}>\r\nMIME-Version: 1.0\r\n"
    )
    .into_bytes();
    raw.extend(body);
    desk.put_raw(Mailbox::Bookings, at, raw);
}
