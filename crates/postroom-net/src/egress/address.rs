//! One classifier for every address, written in a URL or answered by DNS.
//!
//! The blocks are the special-purpose registries of IANA (RFC 6890 and its updates) with the
//! addresses at which clouds serve instance metadata. An IPv6 address is public only inside
//! `2000::/3`, the one block that is handed out, and outside of the special blocks in it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use super::{Class, policy::Range};

/// What it takes from the operator to allow an address of a special block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exemption {
    /// Any range that contains the address.
    Containing,
    /// A range that lies wholly inside the block: nobody opens loopback by naming a wider one.
    Inside,
    /// Nothing.
    Never,
}

struct Block4(u32, u8, Class, Exemption);
struct Block6(u128, u8, Class, Exemption);

const fn v4(a: u8, b: u8, c: u8, d: u8) -> u32 {
    u32::from_be_bytes([a, b, c, d])
}

/// Special blocks of IPv4; of two that hold an address the first in this list counts.
const BLOCKS_4: &[Block4] = &[
    // Metadata of AWS, Azure, Google and Oracle; of AWS containers; of Alibaba; Azure's host; Oracle.
    Block4(
        v4(169, 254, 169, 254),
        32,
        Class::LinkLocal,
        Exemption::Inside,
    ),
    Block4(
        v4(169, 254, 170, 2),
        32,
        Class::LinkLocal,
        Exemption::Inside,
    ),
    Block4(
        v4(169, 254, 170, 23),
        32,
        Class::LinkLocal,
        Exemption::Inside,
    ),
    Block4(v4(100, 100, 100, 200), 32, Class::Shared, Exemption::Inside),
    Block4(v4(168, 63, 129, 16), 32, Class::Metadata, Exemption::Inside),
    Block4(v4(192, 0, 0, 192), 32, Class::Metadata, Exemption::Inside),
    // RFC 791 section 3.2; the kernel takes all of it for this host.
    Block4(v4(0, 0, 0, 0), 8, Class::Unspecified, Exemption::Never),
    Block4(v4(10, 0, 0, 0), 8, Class::Private, Exemption::Containing),
    Block4(v4(100, 64, 0, 0), 10, Class::Shared, Exemption::Containing),
    Block4(v4(127, 0, 0, 0), 8, Class::Loopback, Exemption::Inside),
    Block4(v4(169, 254, 0, 0), 16, Class::LinkLocal, Exemption::Inside),
    Block4(v4(172, 16, 0, 0), 12, Class::Private, Exemption::Containing),
    Block4(v4(192, 0, 0, 0), 24, Class::Reserved, Exemption::Inside),
    Block4(
        v4(192, 0, 2, 0),
        24,
        Class::Documentation,
        Exemption::Inside,
    ),
    Block4(v4(192, 31, 196, 0), 24, Class::Reserved, Exemption::Inside),
    Block4(v4(192, 52, 193, 0), 24, Class::Reserved, Exemption::Inside),
    Block4(
        v4(192, 88, 99, 0),
        24,
        Class::Translation,
        Exemption::Inside,
    ),
    Block4(
        v4(192, 168, 0, 0),
        16,
        Class::Private,
        Exemption::Containing,
    ),
    Block4(v4(192, 175, 48, 0), 24, Class::Reserved, Exemption::Inside),
    Block4(
        v4(198, 18, 0, 0),
        15,
        Class::Benchmarking,
        Exemption::Inside,
    ),
    Block4(
        v4(198, 51, 100, 0),
        24,
        Class::Documentation,
        Exemption::Inside,
    ),
    Block4(
        v4(203, 0, 113, 0),
        24,
        Class::Documentation,
        Exemption::Inside,
    ),
    Block4(v4(224, 0, 0, 0), 4, Class::Multicast, Exemption::Never),
    Block4(
        v4(255, 255, 255, 255),
        32,
        Class::Broadcast,
        Exemption::Never,
    ),
    Block4(v4(240, 0, 0, 0), 4, Class::Reserved, Exemption::Inside),
];

const fn v6(a: u16, b: u16, c: u16, d: u16) -> u128 {
    ((a as u128) << 112) | ((b as u128) << 96) | ((c as u128) << 80) | ((d as u128) << 64)
}

/// Special blocks of IPv6; of two that hold an address the first in this list counts.
const BLOCKS_6: &[Block6] = &[
    // Metadata of AWS (instances, containers) and of Google.
    Block6(
        v6(0xfd00, 0xec2, 0, 0) | 0x254,
        128,
        Class::UniqueLocal,
        Exemption::Inside,
    ),
    Block6(
        v6(0xfd00, 0xec2, 0, 0) | 0x23,
        128,
        Class::UniqueLocal,
        Exemption::Inside,
    ),
    Block6(
        v6(0xfd20, 0xce, 0, 0) | 0x254,
        128,
        Class::UniqueLocal,
        Exemption::Inside,
    ),
    Block6(0, 128, Class::Unspecified, Exemption::Never),
    Block6(1, 128, Class::Loopback, Exemption::Inside),
    // IPv4 in compatible, translated (SIIT), NAT64, Teredo and 6to4 form.
    Block6(0, 96, Class::Translation, Exemption::Never),
    Block6(0xffff_0000_0000, 96, Class::Translation, Exemption::Never),
    Block6(
        0xffff_0000_0000_0000,
        96,
        Class::Translation,
        Exemption::Inside,
    ),
    Block6(
        v6(0x64, 0xff9b, 0, 0),
        96,
        Class::Translation,
        Exemption::Inside,
    ),
    Block6(
        v6(0x64, 0xff9b, 1, 0),
        48,
        Class::Translation,
        Exemption::Inside,
    ),
    Block6(
        v6(0x2001, 0, 0, 0),
        32,
        Class::Translation,
        Exemption::Inside,
    ),
    Block6(
        v6(0x2002, 0, 0, 0),
        16,
        Class::Translation,
        Exemption::Inside,
    ),
    Block6(
        v6(0x2001, 2, 0, 0),
        48,
        Class::Benchmarking,
        Exemption::Inside,
    ),
    Block6(v6(0x2001, 0, 0, 0), 23, Class::Reserved, Exemption::Inside),
    Block6(
        v6(0x2001, 0xdb8, 0, 0),
        32,
        Class::Documentation,
        Exemption::Inside,
    ),
    Block6(
        v6(0x2620, 0x4f, 0x8000, 0),
        48,
        Class::Reserved,
        Exemption::Inside,
    ),
    Block6(
        v6(0x3fff, 0, 0, 0),
        20,
        Class::Documentation,
        Exemption::Inside,
    ),
    Block6(v6(0x100, 0, 0, 0), 48, Class::Reserved, Exemption::Inside),
    Block6(v6(0x5f00, 0, 0, 0), 16, Class::Reserved, Exemption::Inside),
    Block6(
        v6(0xfc00, 0, 0, 0),
        7,
        Class::UniqueLocal,
        Exemption::Containing,
    ),
    Block6(v6(0xfe80, 0, 0, 0), 10, Class::LinkLocal, Exemption::Inside),
    Block6(v6(0xfec0, 0, 0, 0), 10, Class::SiteLocal, Exemption::Inside),
    Block6(v6(0xff00, 0, 0, 0), 8, Class::Multicast, Exemption::Never),
];

/// The address as the kernel dials it: an IPv4-mapped one (RFC 4291 section 2.5.5.2) is IPv4.
pub(super) fn unmapped(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// Whether an address may be dialled, and as what.
///
/// # Errors
/// The class for which it is refused.
pub(super) fn admit(address: IpAddr, allowed: &[Range]) -> Result<Class, Class> {
    match address {
        IpAddr::V4(v4) => admit_4(v4, allowed),
        IpAddr::V6(v6) => admit_6(v6, allowed),
    }
}

fn admit_4(address: Ipv4Addr, allowed: &[Range]) -> Result<Class, Class> {
    let bits = address.to_bits();
    let block = BLOCKS_4.iter().find(|block| {
        let Block4(start, prefix, ..) = **block;
        (bits ^ start)
            .checked_shr(32 - u32::from(prefix))
            .unwrap_or(0)
            == 0
    });
    let Some(Block4(start, prefix, class, exemption)) = block else {
        return Ok(Class::Public);
    };
    let block = Ipv4Net::new(Ipv4Addr::from_bits(*start), *prefix).map(IpNet::V4);
    exempted(IpAddr::V4(address), block.ok(), *class, *exemption, allowed)
}

fn admit_6(address: Ipv6Addr, allowed: &[Range]) -> Result<Class, Class> {
    // A mapped address is dialled over IPv4. Nobody has a reason to publish one.
    if let Some(inner) = address.to_ipv4_mapped() {
        return Err(refused_inner(admit_4(inner, &[])));
    }
    let bits = address.to_bits();
    let block = BLOCKS_6.iter().find(|block| {
        let Block6(start, prefix, ..) = **block;
        (bits ^ start)
            .checked_shr(128 - u32::from(prefix))
            .unwrap_or(0)
            == 0
    });
    let Some(Block6(start, prefix, class, exemption)) = block else {
        // An interface may be named by its IPv4 address (ISATAP, RFC 5214 section 6.1): whoever tunnels
        // so would dial that one.
        if matches!((bits >> 32) as u32, 0x0000_5efe | 0x0200_5efe) {
            let inner = Ipv4Addr::from_bits(bits as u32);
            return Err(refused_inner(admit_4(inner, &[])));
        }
        // Outside of what is handed out nothing can be reached, now.
        return if bits >> 125 == 0b001 {
            Ok(Class::Public)
        } else {
            Err(Class::Reserved)
        };
    };
    let block = Ipv6Net::new(Ipv6Addr::from_bits(*start), *prefix)
        .map(IpNet::V6)
        .ok();
    let Some(inner) = embedded(address) else {
        return exempted(IpAddr::V6(address), block, *class, *exemption, allowed);
    };
    // What stands behind a translator must be allowed itself, whoever allowed the translator.
    let inner = admit_4(inner, allowed);
    exempted(
        IpAddr::V6(address),
        block,
        refused_inner(inner),
        *exemption,
        allowed,
    )
    .and(inner)
    .map(|_| Class::Operator)
}

/// The class of an address that stands for an IPv4 address: that one's, when it is refused.
fn refused_inner(inner: Result<Class, Class>) -> Class {
    inner.err().unwrap_or(Class::Translation)
}

fn exempted(
    address: IpAddr,
    block: Option<IpNet>,
    class: Class,
    exemption: Exemption,
    allowed: &[Range],
) -> Result<Class, Class> {
    let Some(block) = block else {
        return Err(class);
    };
    let allows = |range: &&Range| match exemption {
        Exemption::Never => false,
        Exemption::Containing => range.net().contains(&address),
        Exemption::Inside => range.net().contains(&address) && block.contains(range.net()),
    };
    match allowed.iter().find(allows) {
        Some(_) => Ok(Class::Operator),
        None => Err(class),
    }
}

/// The IPv4 address inside an IPv6 one: mapped, compatible (RFC 4291 section 2.5.5), translated
/// (RFC 2765), NAT64 (RFC 6052 section 2.2, RFC 8215), 6to4 (RFC 3056) and Teredo's client
/// (RFC 4380 section 4).
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let bits = address.to_bits();
    let low = u32::try_from(bits & 0xffff_ffff).unwrap_or(0);
    let inside = |start: u128, prefix: u32| (bits ^ start) >> (128 - prefix) == 0;
    if bits <= 1 {
        return None;
    }
    let last_32_bits = inside(0, 96)
        || inside(0xffff_0000_0000, 96)
        || inside(0xffff_0000_0000_0000, 96)
        || inside(v6(0x64, 0xff9b, 0, 0), 96)
        || inside(v6(0x64, 0xff9b, 1, 0), 48);
    if last_32_bits {
        return Some(Ipv4Addr::from_bits(low));
    }
    if inside(v6(0x2001, 0, 0, 0), 32) {
        return Some(Ipv4Addr::from_bits(!low));
    }
    inside(v6(0x2002, 0, 0, 0), 16)
        .then(|| Ipv4Addr::from_bits(u32::try_from((bits >> 80) & 0xffff_ffff).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn class(address: &str, allowed: &[&str]) -> Result<Class, Class> {
        let allowed: Vec<Range> = allowed
            .iter()
            .map(|range| range.parse().expect("a range"))
            .collect();
        admit(address.parse().expect("an address"), &allowed)
    }

    #[test]
    fn blocks_begin_and_end_where_the_registries_say() {
        let cases = include_str!("../../test_data/egress/addresses.txt");
        for line in cases
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
        {
            let (address, expected) = line.split_once(' ').expect("address and class");
            let seen = class(address, &[]);
            let seen = seen.map_or_else(Class::as_str, Class::as_str);
            assert_eq!(seen, expected.trim(), "{address}");
        }
    }

    #[test]
    fn private_is_allowed_by_any_range_around_it_and_loopback_only_by_one_inside() {
        let all = ["0.0.0.0/0", "::/0"];
        for (address, ranges, allowed) in [
            ("10.0.0.5", &["10.0.0.5/32"][..], true),
            ("10.0.0.6", &["10.0.0.5/32"], false),
            ("10.0.0.5", &all, true),
            ("192.168.1.1", &all, true),
            ("100.64.0.1", &all, true),
            ("fd12::1", &all, true),
            ("127.0.0.1", &all, false),
            ("127.0.0.1", &["126.0.0.0/7"], false),
            ("127.0.0.1", &["127.0.0.0/8"], true),
            ("127.0.0.1", &["127.0.0.1/32"], true),
            ("::1", &all, false),
            ("::1", &["::1/128"], true),
            ("169.254.1.1", &all, false),
            ("169.254.1.1", &["169.254.0.0/16"], true),
            ("169.254.169.254", &["169.254.0.0/16"], false),
            ("169.254.169.254", &["169.254.169.254/32"], true),
            ("100.100.100.200", &["100.64.0.0/10"], false),
            ("fe80::1", &all, false),
            ("fe80::1", &["fe80::/10"], true),
            ("0.0.0.0", &["0.0.0.0/32", "0.0.0.0/0"], false),
            ("::", &["::/128", "::/0"], false),
            ("224.0.0.1", &["224.0.0.1/32", "0.0.0.0/0"], false),
            ("ff02::1", &["ff02::1/128", "::/0"], false),
            ("255.255.255.255", &["255.255.255.255/32"], false),
            ("192.0.2.1", &all, false),
            ("192.0.2.1", &["192.0.2.0/24"], true),
        ] {
            assert_eq!(
                class(address, ranges) == Ok(Class::Operator),
                allowed,
                "{address} {ranges:?}"
            );
        }
    }

    #[test]
    fn an_allowed_translator_opens_nothing_behind_it() {
        let nat64 = "64:ff9b::/96";
        assert_eq!(class("64:ff9b::808:808", &[nat64]), Ok(Class::Operator));
        assert_eq!(class("64:ff9b::a00:1", &[nat64]), Err(Class::Private));
        assert_eq!(class("64:ff9b::7f00:1", &[nat64]), Err(Class::Loopback));
        assert_eq!(
            class("64:ff9b::a00:1", &[nat64, "10.0.0.0/8"]),
            Ok(Class::Operator)
        );
    }

    proptest! {
        #[test]
        fn every_form_of_a_refused_ipv4_address_is_refused(bits: u32) {
            let inner = Ipv4Addr::from_bits(bits);
            let low = u128::from(bits);
            let forms = [
                low,
                low | 0xffff_0000_0000,
                low | 0xffff_0000_0000_0000,
                v6(0x64, 0xff9b, 0, 0) | low,
                v6(0x2002, 0, 0, 0) | (low << 80),
                v6(0x2001, 0, 0, 0) | u128::from(!bits),
            ];
            for form in forms {
                let outer = admit(IpAddr::V6(Ipv6Addr::from_bits(form)), &[]);
                prop_assert!(outer.is_err());
                if let (Err(inner), true) = (admit_4(inner, &[]), form > 1) {
                    prop_assert_eq!(outer, Err(inner));
                }
            }
        }

        #[test]
        fn ipv4_agrees_with_the_standard_library_where_that_has_an_opinion(bits: u32) {
            let address = Ipv4Addr::from_bits(bits);
            let special = address.is_private() || address.is_loopback() || address.is_link_local()
                || address.is_multicast() || address.is_broadcast() || address.is_documentation()
                || address.is_unspecified();
            prop_assert!(!special || admit_4(address, &[]).is_err());
        }

        #[test]
        fn ipv6_is_public_only_inside_2000_3(bits: u128) {
            let admitted = admit(IpAddr::V6(Ipv6Addr::from_bits(bits)), &[]);
            prop_assert!(admitted.is_err() || bits >> 125 == 1);
        }
    }
}
