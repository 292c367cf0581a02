//! Who writes to the made-up company.

use super::letter::Person;

/// The language that a customer writes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Language {
    #[default]
    English,
    German,
    French,
    Spanish,
    Polish,
    Japanese,
    Chinese,
    Italian,
    Swedish,
}

/// A customer: name, address, language, town.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Customer {
    pub(super) name: &'static str,
    pub(super) address: &'static str,
    pub(super) language: Language,
    pub(super) town: &'static str,
}

impl Customer {
    pub(super) fn person(&self) -> Person {
        Person::new(self.name, self.address)
    }
}

const fn customer(
    name: &'static str,
    address: &'static str,
    language: Language,
    town: &'static str,
) -> Customer {
    Customer {
        name,
        address,
        language,
        town,
    }
}

/// Customers in the order in which they first wrote.
pub(super) const CUSTOMERS: &[Customer] = &[
    customer(
        "Martin Oakley",
        "martin.oakley@fernbridge.example",
        Language::English,
        "Leeds",
    ),
    customer(
        "Priya Raman",
        "priya@ramanstudio.example",
        Language::English,
        "Bristol",
    ),
    customer(
        "Jürgen Albrecht",
        "j.albrecht@albrecht-bau.example",
        Language::German,
        "Kassel",
    ),
    customer(
        "Élodie Marchand",
        "elodie.marchand@atelier-marchand.example",
        Language::French,
        "Nantes",
    ),
    customer(
        "Tom Hesketh",
        "tom@heskethfilms.example",
        Language::English,
        "Salford",
    ),
    customer(
        "Lucía Ferrer",
        "lucia.ferrer@ferrer-eventos.example",
        Language::Spanish,
        "Valencia",
    ),
    customer(
        "Zofia Wójcik",
        "zofia.wojcik@pracownia-wojcik.example",
        Language::Polish,
        "Kraków",
    ),
    customer(
        "田中 健一",
        "tanaka@tanaka-shoji.example",
        Language::Japanese,
        "大阪",
    ),
    customer(
        "Sian Prosser",
        "sian.prosser@taffmail.example",
        Language::English,
        "Cardiff",
    ),
    customer(
        "王晓明",
        "wang.xiaoming@donghai-travel.example",
        Language::Chinese,
        "上海",
    ),
    customer(
        "Hannes Krüger",
        "hannes@krueger-kaffee.example",
        Language::German,
        "Bremen",
    ),
    customer(
        "Giulia Conti",
        "giulia.conti@contiviaggi.example",
        Language::Italian,
        "Torino",
    ),
    customer(
        "Dougal McInnes",
        "dougal@mcinnes-joinery.example",
        Language::English,
        "Perth",
    ),
    customer(
        "Anna Sjögren",
        "anna.sjogren@sjogrenfoto.example",
        Language::Swedish,
        "Malmö",
    ),
    customer(
        "Beatriz Santamaría",
        "bea@santamaria-musica.example",
        Language::Spanish,
        "Bilbao",
    ),
    customer(
        "Olu Adeyemi",
        "olu.adeyemi@brightwell.example",
        Language::English,
        "London",
    ),
    customer(
        "Camille Roussel",
        "camille@roussel-traiteur.example",
        Language::French,
        "Lyon",
    ),
    customer(
        "Ruth Feldman",
        "ruth@feldmanarchive.example",
        Language::English,
        "Manchester",
    ),
    customer(
        "佐藤 美咲",
        "misaki.sato@sato-design.example",
        Language::Japanese,
        "京都",
    ),
    customer(
        "Katarzyna Mazur",
        "k.mazur@mazur-transport.example",
        Language::Polish,
        "Gdańsk",
    ),
    customer(
        "Helen Whitcombe",
        "helen@whitcombe-choir.example",
        Language::English,
        "Exeter",
    ),
    customer(
        "Sabine Vogt",
        "sabine.vogt@vogt-messebau.example",
        Language::German,
        "Köln",
    ),
    customer(
        "Callum Reid",
        "callum.reid@northshore-sailing.example",
        Language::English,
        "Oban",
    ),
    customer(
        "李静",
        "li.jing@qingdao-trade.example",
        Language::Chinese,
        "青岛",
    ),
];

/// A vehicle of the fleet: what it is, its registration, its price per day in pounds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Vehicle {
    pub(super) model: &'static str,
    pub(super) registration: &'static str,
    pub(super) daily: u32,
}

const fn vehicle(model: &'static str, registration: &'static str, daily: u32) -> Vehicle {
    Vehicle {
        model,
        registration,
        daily,
    }
}

/// The fleet.
pub(super) const FLEET: &[Vehicle] = &[
    vehicle("nine-seat minibus", "LK19 HVB", 84),
    vehicle("Luton van with tail lift", "YD21 RWE", 96),
    vehicle("camper van, two berths", "KX70 MOB", 112),
    vehicle("long-wheelbase panel van", "FN22 ZTA", 72),
    vehicle("electric estate car", "EA23 JLD", 58),
    vehicle("seven-seat people carrier", "BV20 OSC", 66),
    vehicle("refrigerated van", "WM22 KPN", 104),
    vehicle("pick-up with crew cab", "SC69 TGU", 78),
];

/// The people of the company who sign.
pub(super) const BOOKING_CLERK: &str = "Nell Harper";
pub(super) const CLAIMS_CLERK: &str = "Idris Vaughan";
pub(super) const BOOKKEEPER: &str = "Mei-Lin Carter";
