//! Why a URL may be dialled or not: all that a caller learns.

macro_rules! classes {
    ($($variant:ident = $name:literal, $message:literal;)*) => {
        /// What a URL, or the worst of the addresses behind it, is.
        ///
        /// A class speaks of a kind of address and never of one: two private addresses give the
        /// same words.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Class {
            $(#[doc = $message] $variant,)*
        }

        impl Class {
            /// Every class.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The stable word.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// One sentence for a person, without its full stop.
            pub fn message(self) -> &'static str {
                match self { $(Self::$variant => $message,)* }
            }
        }
    };
}

classes! {
    Public = "public", "all addresses of the host are public";
    Operator = "operator", "an address of the host is allowed by the operator's ranges";
    NotAUrl = "not_a_url", "this is not an absolute https URL";
    TooLong = "too_long", "the URL is longer than 2,048 bytes";
    Scheme = "scheme", "the URL must use https";
    Userinfo = "userinfo", "the URL must not hold a user name or password";
    Fragment = "fragment", "the URL must not hold a fragment";
    Port = "port", "the URL must use port 443 or a port that the operator allows";
    Name = "name", "the host must be a public domain name of several labels without a trailing dot";
    LocalName = "local_name", "the host is a name of the local network";
    DnsError = "dns_error", "the host could not be resolved";
    OwnListener = "own_listener", "the URL leads to this server itself";
    Loopback = "loopback", "the host resolves to a loopback address";
    Private = "private", "the host resolves to a private address";
    LinkLocal = "link_local", "the host resolves to a link-local address";
    UniqueLocal = "unique_local", "the host resolves to a unique-local address";
    SiteLocal = "site_local", "the host resolves to a site-local address";
    Shared = "shared", "the host resolves to a shared (carrier-grade NAT) address";
    Metadata = "metadata", "the host resolves to a cloud metadata address";
    Unspecified = "unspecified", "the host resolves to an unspecified address";
    Multicast = "multicast", "the host resolves to a multicast address";
    Broadcast = "broadcast", "the host resolves to a broadcast address";
    Documentation = "documentation", "the host resolves to a documentation address";
    Benchmarking = "benchmarking", "the host resolves to a benchmarking address";
    Translation = "translation", "the host resolves to an IPv4 address in IPv6 form";
    Reserved = "reserved", "the host resolves to a reserved address";
}

impl Class {
    /// Whether a URL of this class is dialled.
    pub fn is_allowed(self) -> bool {
        matches!(self, Self::Public | Self::Operator)
    }

    /// Whether the same URL may be allowed later without anybody changing anything.
    pub fn is_retryable(self) -> bool {
        self == Self::DnsError
    }
}
