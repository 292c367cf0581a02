//! What a customer says, in nine languages.

use super::people::Language;

/// Sentences of one language; `{vehicle}`, `{from}`, `{to}`, `{ref}` and `{name}` are filled in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Phrases {
    pub(super) subject: &'static str,
    pub(super) greeting: &'static str,
    /// The vehicles in the order of the fleet.
    pub(super) vehicles: [&'static str; 8],
    pub(super) enquiry: &'static str,
    pub(super) reasons: [&'static str; 4],
    pub(super) questions: [&'static str; 4],
    pub(super) confirm: &'static str,
    pub(super) later: [&'static str; 4],
    pub(super) closing: &'static str,
    /// The line above a quoted mail; `{name}` and `{date}` are filled in.
    pub(super) quote: &'static str,
}

/// The sentences of a language.
pub(super) fn phrases(language: Language) -> &'static Phrases {
    match language {
        Language::English => &ENGLISH,
        Language::German => &GERMAN,
        Language::French => &FRENCH,
        Language::Spanish => &SPANISH,
        Language::Polish => &POLISH,
        Language::Japanese => &JAPANESE,
        Language::Chinese => &CHINESE,
        Language::Italian => &ITALIAN,
        Language::Swedish => &SWEDISH,
    }
}

const ENGLISH: Phrases = Phrases {
    subject: "Hire of a {vehicle} from {from}",
    greeting: "Hello,",
    vehicles: [
        "nine-seat minibus",
        "Luton van with a tail lift",
        "two-berth camper van",
        "long panel van",
        "hybrid estate",
        "seven-seater",
        "refrigerated van",
        "crew-cab pick-up",
    ],
    enquiry: "I would like to hire a {vehicle} from {from} to {to}. Could you tell me what is free and what it would cost?",
    reasons: [
        "We are moving our workshop to a unit across town and have one weekend to do it.",
        "It is for the choir's trip to the coast; nine of us and a keyboard.",
        "We film two days on location and need room for lights and stands.",
        "My brother gets married on the island and we carry the food ourselves.",
    ],
    questions: [
        "Is the insurance excess still 750 pounds, and can a second driver be added?",
        "Can we return the keys after eight in the evening?",
        "Do you have a roof rack, and is there a charge for it?",
        "How many miles are included before you charge extra?",
    ],
    confirm: "That works for us, please book it under {ref}. I have paid the deposit this morning.",
    later: [
        "One change: we now collect at ten instead of eight. I hope that is no trouble.",
        "Could you add Sam Turner as a second driver? The licence is attached.",
        "Thank you, everything went well. The fuel is full and I left the tape in the glove box.",
        "We have to give up two days: can you shorten {ref} and tell me what we get back?",
    ],
    closing: "Kind regards,",
    quote: "On {date}, {name} wrote:",
};

const GERMAN: Phrases = Phrases {
    subject: "Anfrage: {vehicle} ab {from}",
    greeting: "Guten Tag,",
    vehicles: [
        "Kleinbus mit neun Sitzen",
        "Koffertransporter mit Hebebühne",
        "Wohnmobil für zwei",
        "langer Kastenwagen",
        "Elektro-Kombi",
        "Siebensitzer",
        "Kühlwagen",
        "Pritschenwagen mit Doppelkabine",
    ],
    enquiry: "wir möchten vom {from} bis {to} folgendes Fahrzeug mieten: {vehicle}. Ist das frei, und was würde es kosten?",
    reasons: [
        "Wir bauen einen Messestand in Birmingham auf und holen das Material selbst ab.",
        "Unsere Betriebsfeier findet an der Küste statt.",
        "Es geht um die Überführung von sechs Kaffeemaschinen.",
        "Wir besuchen Verwandte in Schottland und fliegen nach Leeds.",
    ],
    questions: [
        "Wie hoch ist die Selbstbeteiligung, und gilt mein deutscher Führerschein?",
        "Dürfen wir das Fahrzeug am Sonntag zurückgeben?",
        "Ist ein Kindersitz dabei? Bitte teilen Sie mir den Preis dafür mit.",
        "Können Sie die Rechnung auf die Firma ausstellen?",
    ],
    confirm: "vielen Dank, das passt. Bitte buchen Sie verbindlich unter {ref}; die Anzahlung ist heute überwiesen worden.",
    later: [
        "unser Zug kommt später an, wir holen das Fahrzeug erst um elf Uhr ab. Entschuldigen Sie die Umstände.",
        "bitte tragen Sie Frau Lehmann als zweite Fahrerin ein. Eine Kopie des Führerscheins liegt bei.",
        "herzlichen Dank, alles hat gut geklappt. Der Schlüssel liegt im Kasten am Tor.",
        "leider müssen wir {ref} um zwei Tage verkürzen. Was bekommen wir erstattet?",
    ],
    closing: "Mit freundlichen Grüßen",
    quote: "Am {date} schrieb {name}:",
};

const FRENCH: Phrases = Phrases {
    subject: "Location : {vehicle} à partir du {from}",
    greeting: "Bonjour,",
    vehicles: [
        "minibus neuf places",
        "camion avec hayon",
        "fourgon aménagé deux places",
        "grand fourgon",
        "break électrique",
        "monospace sept places",
        "camionnette frigorifique",
        "pick-up double cabine",
    ],
    enquiry: "Nous souhaitons louer du {from} au {to} le véhicule suivant : {vehicle}. Est-il disponible, et à quel prix ?",
    reasons: [
        "Nous livrons un buffet pour deux cents personnes près de Whitby.",
        "C'est pour transporter des meubles de notre atelier vers une galerie.",
        "Nous partons en famille visiter le Pays de Galles.",
        "Une tournée de trois concerts nous attend dans le nord.",
    ],
    questions: [
        "La franchise peut-elle être réduite, et à quel tarif ?",
        "Peut-on rendre les clés après la fermeture ?",
        "Faut-il une carte de crédit au nom du conducteur ?",
        "Le kilométrage est-il limité ?",
    ],
    confirm: "C'est parfait, merci de réserver sous le numéro {ref}. L'acompte a été versé ce matin.",
    later: [
        "Notre ferry arrive plus tard que prévu : nous passerons vers onze heures.",
        "Pourriez-vous ajouter ma collègue comme deuxième conductrice ? Son permis est joint.",
        "Merci pour tout, le véhicule était impeccable. Le plein est fait.",
        "Nous devons raccourcir {ref} de deux jours. Quel montant sera remboursé ?",
    ],
    closing: "Bien cordialement,",
    quote: "Le {date}, {name} a écrit :",
};

const SPANISH: Phrases = Phrases {
    subject: "Alquiler de {vehicle} desde el {from}",
    greeting: "Buenos días:",
    vehicles: [
        "minibús de nueve plazas",
        "camión con plataforma",
        "autocaravana de dos plazas",
        "furgoneta larga",
        "familiar eléctrico",
        "monovolumen de siete plazas",
        "furgoneta frigorífica",
        "camioneta de doble cabina",
    ],
    enquiry: "Queremos alquilar un vehículo del {from} al {to}: {vehicle}. ¿Está libre y cuánto costaría?",
    reasons: [
        "Montamos el escenario de un festival pequeño y llevamos el sonido nosotros.",
        "Viajamos con el cuarteto y dos violonchelos.",
        "Es para una boda en el campo, con veinte mesas plegables.",
        "Hacemos una ruta por los castillos del norte.",
    ],
    questions: [
        "¿Se puede conducir con permiso español y menos de veinticinco años?",
        "¿Cuánto cuesta añadir otro conductor?",
        "¿Podemos devolverlo en el aeropuerto?",
        "¿Incluye cadenas para la nieve?",
    ],
    confirm: "Nos parece bien, resérvelo con la referencia {ref}. La señal está pagada desde hoy.",
    later: [
        "El vuelo se retrasa, así que recogeremos el vehículo a las once y media.",
        "Añada por favor a Iker Sáez como segundo conductor; adjunto su permiso.",
        "Todo ha ido muy bien, gracias. El depósito está lleno.",
        "Tenemos que acortar {ref} dos días. ¿Qué importe nos devuelven?",
    ],
    closing: "Un saludo,",
    quote: "El {date}, {name} escribió:",
};

const POLISH: Phrases = Phrases {
    subject: "Wynajem: {vehicle} od {from}",
    greeting: "Dzień dobry,",
    vehicles: [
        "bus dziewięcioosobowy",
        "ciężarówka z windą",
        "kamper dla dwóch osób",
        "długi furgon",
        "elektryczne kombi",
        "samochód siedmioosobowy",
        "furgon chłodnia",
        "pick-up z podwójną kabiną",
    ],
    enquiry: "chcielibyśmy wynająć od {from} do {to} następujący pojazd: {vehicle}. Czy jest wolny i ile to będzie kosztować?",
    reasons: [
        "Przewozimy rzeźby na wystawę w Leeds.",
        "Jedziemy z drużyną na turniej siatkówki.",
        "Potrzebujemy zabrać meble po babci do nowego mieszkania.",
        "Odbieramy części zamienne z portu w Hull.",
    ],
    questions: [
        "Jaka jest wysokość udziału własnego w szkodzie?",
        "Czy można oddać kluczyki po godzinie dwudziestej?",
        "Czy potrzebna jest karta kredytowa, czy wystarczy przelew?",
        "Czy wolno wjechać tym autem na prom?",
    ],
    confirm: "dziękuję, odpowiada nam to. Proszę zarezerwować pod numerem {ref}; zaliczka została dziś wpłacona.",
    later: [
        "spóźnimy się, odbierzemy samochód dopiero około jedenastej.",
        "proszę dopisać drugiego kierowcę, skan prawa jazdy w załączniku.",
        "wszystko poszło świetnie, dziękujemy. Bak jest pełny.",
        "musimy skrócić {ref} o dwa dni. Jaka kwota zostanie zwrócona?",
    ],
    closing: "Z poważaniem",
    quote: "{date} {name} napisał(a):",
};

const JAPANESE: Phrases = Phrases {
    subject: "レンタルのお問い合わせ({vehicle}、{from}から)",
    greeting: "お世話になっております。",
    vehicles: [
        "九人乗りマイクロバス",
        "リフト付きトラック",
        "二人用キャンピングカー",
        "大型バン",
        "電気ワゴン車",
        "七人乗りミニバン",
        "冷蔵車",
        "ピックアップトラック",
    ],
    enquiry: "{from}から{to}まで、{vehicle}を借りたいのですが、空きと料金を教えていただけますか。",
    reasons: [
        "展示会の資材を運ぶために使う予定です。",
        "家族で湖水地方を旅行します。",
        "撮影チームと機材を運びます。",
        "取引先の工場を三か所訪問します。",
    ],
    questions: [
        "国際運転免許証で問題ありませんか。",
        "免責金額はいくらでしょうか。",
        "夜九時以降の返却は可能ですか。",
        "チャイルドシートはありますか。",
    ],
    confirm: "ありがとうございます。その条件でお願いいたします。予約番号は{ref}で、本日手付金を振り込みました。",
    later: [
        "飛行機が遅れるため、受け取りは十一時ごろになります。",
        "運転者を一名追加してください。免許証の写しを添付します。",
        "無事に返却しました。大変助かりました。",
        "{ref}を二日短くしたいのですが、返金額を教えてください。",
    ],
    closing: "よろしくお願いいたします。",
    quote: "{date} {name} のメール:",
};

const CHINESE: Phrases = Phrases {
    subject: "咨询租车:{vehicle},{from}起",
    greeting: "您好:",
    vehicles: [
        "九座小巴",
        "带尾板货车",
        "双人房车",
        "长轴面包车",
        "电动旅行车",
        "七座商务车",
        "冷藏车",
        "双排皮卡",
    ],
    enquiry: "我们想从{from}到{to}租一辆{vehicle},请问有空车吗?费用是多少?",
    reasons: [
        "我们带一个八人的旅行团参观工厂。",
        "需要把展品从仓库运到展览中心。",
        "公司同事去苏格兰考察三天。",
        "我们要运送一批海鲜样品。",
    ],
    questions: [
        "中国驾照加翻译件可以吗?",
        "保险的自付额是多少?",
        "可以在机场还车吗?",
        "押金什么时候退还?",
    ],
    confirm: "可以,请按预订号{ref}确认。定金今天已经付款。",
    later: [
        "航班晚点,我们大概十一点到店取车。",
        "请增加一位司机,驾照扫描件见附件。",
        "车已经归还,一切顺利,谢谢。",
        "我们想把{ref}缩短两天,请问可以退多少钱?",
    ],
    closing: "此致敬礼",
    quote: "{name} 于 {date} 写道:",
};

const ITALIAN: Phrases = Phrases {
    subject: "Noleggio {vehicle} dal {from}",
    greeting: "Buongiorno,",
    vehicles: [
        "minibus a nove posti",
        "furgone con sponda",
        "camper per due",
        "furgone passo lungo",
        "station wagon elettrica",
        "monovolume a sette posti",
        "furgone frigorifero",
        "pick-up a doppia cabina",
    ],
    enquiry: "vorremmo noleggiare dal {from} al {to}: {vehicle}. È disponibile, e quanto costa?",
    reasons: [
        "Accompagniamo un gruppo di camminatori lungo il Vallo.",
        "Trasportiamo strumenti per una rassegna estiva.",
        "Visitiamo i clienti del nord in quattro giorni.",
        "Portiamo formaggi a una fiera e serve il freddo.",
    ],
    questions: [
        "La franchigia si può azzerare?",
        "Possiamo riconsegnare di domenica?",
        "Serve una carta di credito del conducente?",
        "Ci sono seggiolini per bambini?",
    ],
    confirm: "va benissimo, prenoti pure con il numero {ref}. L'acconto è stato versato oggi.",
    later: [
        "il volo è in ritardo, ritiriamo alle undici e mezza.",
        "aggiunga per favore un secondo conducente; la patente è allegata.",
        "tutto perfetto, grazie. Il serbatoio è pieno.",
        "dobbiamo accorciare {ref} di due giorni. Quanto ci viene rimborsato?",
    ],
    closing: "Cordiali saluti,",
    quote: "Il {date} {name} ha scritto:",
};

const SWEDISH: Phrases = Phrases {
    subject: "Förfrågan om {vehicle} från {from}",
    greeting: "Hej,",
    vehicles: [
        "minibuss med nio platser",
        "skåpbil med lyft",
        "husbil för två",
        "lång skåpbil",
        "elkombi",
        "sjusitsig bil",
        "kylbil",
        "pickup med dubbelhytt",
    ],
    enquiry: "vi vill hyra en {vehicle} från {from} till {to}. Är den ledig och vad kostar det?",
    reasons: [
        "Vi fotograferar fyrar längs kusten i en vecka.",
        "Vi flyttar en utställning från Göteborg via färjan i Newcastle.",
        "Kören åker på turné.",
        "Vi ska vandra i Skottland.",
    ],
    questions: [
        "Hur hög är självrisken?",
        "Kan vi lämna tillbaka bilen på natten?",
        "Ingår takräcke?",
        "Får vi ta med hund?",
    ],
    confirm: "det blir bra, boka under {ref}. Handpenningen är betald i dag.",
    later: [
        "färjan är sen, vi hämtar bilen vid elva.",
        "lägg gärna till en förare, körkortet är bifogat.",
        "allt gick fint, tack. Tanken är full.",
        "vi måste korta {ref} med två dagar. Hur mycket får vi tillbaka?",
    ],
    closing: "Vänliga hälsningar,",
    quote: "Den {date} skrev {name}:",
};
