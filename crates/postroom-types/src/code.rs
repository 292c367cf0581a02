//! The catalogue of error codes: one row each, from which every surface takes its answer.

/// Which code stands for a bad argument, a missing thing and a stale cursor in a toolset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `invalid_request`, `*_not_found`.
    Mail,
    /// `invalid_argument`, `not_found`.
    Events,
}

macro_rules! codes {
    ($($variant:ident = $name:literal, $http:literal, $retryable:literal, $exit:literal, $message:literal, $fix:literal;)*) => {
        /// A stable error code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $(#[doc = $message] $variant,)*
        }

        impl ErrorCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The code on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The HTTP status.
            pub fn http_status(self) -> u16 {
                match self { $(Self::$variant => $http,)* }
            }

            /// Whether the same call may succeed later.
            pub fn retryable(self) -> bool {
                match self { $(Self::$variant => $retryable,)* }
            }

            /// The exit status of the command line: 1 a problem was found, 2 usage or I/O.
            pub fn exit_status(self) -> u8 {
                match self { $(Self::$variant => $exit,)* }
            }

            /// One sentence for a person.
            pub fn message(self) -> &'static str {
                match self { $(Self::$variant => $message,)* }
            }

            /// One sentence that tells an agent what to do.
            pub fn fix(self) -> &'static str {
                match self { $(Self::$variant => $fix,)* }
            }
        }
    };
}

codes! {
    AddressInvalid = "address_invalid", 400, false, 2, "This is not an address that can receive mail here.", "Give local@domain in ASCII, without angle brackets.";
    AddressLimitReached = "address_limit_reached", 422, false, 2, "The identity has as many addresses as it may have.", "Retire an address first.";
    AddressNotFound = "address_not_found", 404, false, 1, "There is no such address.", "Take address ids from the identity.";
    AddressReserved = "address_reserved", 400, false, 2, "This local part is reserved.", "Choose another local part; under the deployment's domain, give a username.";
    AddressTaken = "address_taken", 409, false, 2, "The address is already in use.", "Choose another address.";
    AddressUnsupported = "address_unsupported", 400, false, 2, "Addresses with a non-ASCII local part are not supported.", "Use ASCII before the @.";
    AllRecipientsSuppressed = "all_recipients_suppressed", 422, false, 1, "Nobody would get this mail; only a dry run is refused so.", "Read the reasons in details and write to somebody else: sent all the same, it is taken and has status suppressed.";
    AttachmentNotFound = "attachment_not_found", 404, false, 1, "There is no such attachment.", "Take attachment ids from mail_get_message.";
    AutoReplyNotAllowed = "auto_reply_not_allowed", 409, false, 1, "An automatic answer is not allowed here.", "Do not answer automatically; ask a person whether an answer is wanted.";
    AwaitingSecret = "awaiting_secret", 503, true, 1, "The source has no signing secret yet.", "Give it the provider's secret with source_set_secret.";
    CeilingExceeded = "ceiling_exceeded", 409, false, 2, "There are as many of these as there may be.", "Delete one that is no longer used.";
    ClientIdConflict = "client_id_conflict", 409, false, 2, "An identity with this client_id exists with other values.", "Repeat the first values, or use another client_id.";
    Conflict = "conflict", 409, false, 1, "It is not in a state that allows this.", "Read it again, then decide anew.";
    CursorExpired = "cursor_expired", 410, false, 2, "The cursor is older than 24 hours.", "Start again without a cursor.";
    DailyCapReached = "daily_cap_reached", 429, true, 1, "As much was sent today as may be.", "Try again after details.resets_at, with the same key.";
    Deferred = "deferred", 409, true, 1, "The queue gives out no work now.", "Wait until the queue goes on, then claim again.";
    DomainNotReady = "domain_not_ready", 409, true, 1, "Mail cannot leave from this domain yet.", "Send from an address of a domain that may send, or ask the operator to name this one in [transport] domains.";
    DomainUnavailable = "domain_unavailable", 409, false, 2, "The domain belongs to somebody else.", "Use a domain of your own, or a username under the deployment's.";
    DraftNotFound = "draft_not_found", 404, false, 1, "There is no such draft.", "Take draft ids from the list of drafts.";
    Forbidden = "forbidden", 403, false, 2, "The key may not do this.", "Ask for a key with the permission that is named.";
    ForbiddenFunction = "forbidden_function", 400, false, 2, "The rule calls a function that rules may not call.", "Use only the functions that the documentation of rules lists.";
    HeaderNotAllowed = "header_not_allowed", 400, false, 2, "This header field cannot be set.", "Use X- names of your own, Importance, Priority, Sensitivity, Keywords, Comments or Organization.";
    IdempotencyConflict = "idempotency_conflict", 409, false, 2, "This key was used for another mail.", "Use a new key for a new mail; repeat a mail with exactly its first values.";
    IdempotencyKeyRequired = "idempotency_key_required", 400, false, 2, "A send needs a key against doubles.", "Give idempotency_key: new for each new mail, the same when you repeat a call.";
    IdentityNotFound = "identity_not_found", 404, false, 1, "There is no such identity.", "Call mail_list_identities and use an id or address from it.";
    IdentityOwnerRequired = "identity_owner_required", 409, false, 1, "Nobody answers for this identity.", "Give the identity an owner first: identity_update with owner {\"name\",\"email\"}, or `postroom identity update --as ADDRESS --owner JSON`.";
    IdentityPaused = "identity_paused", 409, false, 1, "The identity is paused.", "Ask whoever runs the workspace: identity_update with a key of the tenant makes it active again.";
    ImportFailureNotFound = "import_failure_not_found", 404, false, 1, "There is no such failed import, or its bytes were not kept.", "Take failures that are kept from import_failure_list.";
    InternalError = "internal_error", 500, true, 2, "Something failed inside; it was logged under the request id.", "Try once more; if it fails again, report the request id.";
    InvalidArgument = "invalid_argument", 400, false, 2, "An argument is not valid.", "Correct the argument that is named.";
    InvalidExpression = "invalid_expression", 400, false, 2, "The rule's expression cannot be read.", "Correct the expression at details.position.";
    InvalidIdempotencyKey = "invalid_idempotency_key", 400, false, 2, "The key against doubles is not valid.", "Use 1 to 255 printable ASCII characters.";
    InvalidQuery = "invalid_query", 400, false, 2, "The search query cannot be read.", "Correct the query at details.position; quote a word to search it literally.";
    InvalidRequest = "invalid_request", 400, false, 2, "The request is not valid.", "Correct the fields in details.errors.";
    InvalidRule = "invalid_rule", 400, false, 2, "The rule is not valid.", "Correct the rule that details names.";
    KeyExpired = "key_expired", 401, false, 2, "The key has expired.", "Ask the operator for a new key.";
    KeyLimitReached = "key_limit_reached", 422, false, 2, "The tenant has as many active keys as it may have.", "Revoke a key that is no longer used.";
    KeyNotFound = "key_not_found", 404, false, 1, "There is no such key.", "Take key ids from the list of keys.";
    KeyRevoked = "key_revoked", 401, false, 2, "The key was revoked.", "Ask the operator for a new key.";
    KeyScopeExceeded = "key_scope_exceeded", 403, false, 2, "A key cannot make or change a key that is wider than itself.", "Use a wider key, or ask for fewer permissions.";
    ListEntryNotFound = "list_entry_not_found", 404, false, 1, "There is no such entry.", "Take entries from the list.";
    LocalPartTooLong = "local_part_too_long", 400, false, 2, "The local part is too long.", "Use at most 40 characters before the @.";
    LoopDetected = "loop_detected", 409, false, 1, "These mails answer each other without end.", "Do not answer; tell a person about the thread.";
    MarketingRequirementsMissing = "marketing_requirements_missing", 400, false, 2, "Marketing mail needs a way to unsubscribe and a consent.", "Give unsubscribe.url with https, and consent: an object that says how the recipients agreed.";
    MessageNotFound = "message_not_found", 404, false, 1, "There is no such message.", "Take message ids from mail_search or mail_get_thread.";
    MessageTooLarge = "message_too_large", 413, false, 2, "The message is larger than the limit.", "Make the message smaller: send fewer or smaller files.";
    MethodNotAllowed = "method_not_allowed", 405, false, 2, "The path exists, but not with this method.", "Use a method from the Allow header.";
    Misconfigured = "misconfigured", 500, false, 2, "The deployment is not set up rightly.", "Ask the operator: the server's log says what is wrong.";
    NotCancelable = "not_cancelable", 409, false, 1, "The mail is on its way or has ended.", "Read the message to see what became of it.";
    NotFound = "not_found", 404, false, 1, "There is nothing with this id.", "Take ids from the list of the same kind.";
    NotUncertain = "not_uncertain", 409, false, 1, "It is known what became of this mail.", "Read the message to see its status.";
    PayloadTooLarge = "payload_too_large", 413, false, 2, "The request body is larger than the limit.", "Send a body of at most 7 MiB; upload larger files first, and name their ids as attachments.";
    PermissionDenied = "permission_denied", 403, false, 2, "The permission that this needs is not granted to the caller.", "Ask the operator to grant details.required.";
    PolicyDenied = "policy_denied", 403, false, 1, "The caller may not write to this recipient.", "Answer in the thread to those who take part in it, or ask the operator for a wider send scope.";
    RateLimited = "rate_limited", 429, true, 1, "Too many requests.", "Wait for the seconds in Retry-After, then try again.";
    RecipientBlocked = "recipient_blocked", 422, false, 1, "Every recipient is blocked; only a dry run is refused so.", "Write to others than details names: sent all the same, it is taken and has status suppressed.";
    ReplayFailed = "replay_failed", 502, true, 1, "The target could not be reached.", "Check that the target is up, then replay again.";
    ReplayTargetRequired = "replay_target_required", 400, false, 2, "No target was given and the key has none.", "Give target_url, or use a key with a replay target.";
    RouteNotFound = "route_not_found", 404, false, 2, "There is no such route.", "See /openapi.json for the routes.";
    RuleNotFound = "rule_not_found", 404, false, 1, "The source has no such rule.", "Take rule ids from source_list.";
    ScopeDenied = "scope_denied", 403, false, 2, "This is out of the caller's reach.", "Ask the operator, or use a key of a wider level.";
    ScopeTooLarge = "scope_too_large", 422, false, 2, "The search covers more than 100 identities.", "Name at most 100 identities in identity_ids.";
    SearchDegraded = "search_degraded", 503, true, 1, "This search mode is not available now.", "Use mode keyword or hybrid.";
    SlugTaken = "slug_taken", 409, false, 2, "A tenant with this slug exists.", "Choose another slug.";
    SuppressionNotFound = "suppression_not_found", 404, false, 1, "This address is not suppressed.", "Take ids from the list of suppressions.";
    TenantNotFound = "tenant_not_found", 404, false, 1, "There is no such tenant.", "Leave tenant_id out, or use your own tenant's id.";
    TenantSuspended = "tenant_suspended", 403, false, 1, "The tenant is suspended.", "Ask the operator to reactivate the tenant.";
    TestModeRecipient = "test_mode_recipient", 403, false, 2, "A test key reaches local and simulated recipients only.", "Write to an address here or at simulator.invalid, or use a live key.";
    ThreadNotFound = "thread_not_found", 404, false, 1, "There is no such thread.", "Take thread ids from mail_list_threads or mail_search.";
    TooManyRecipients = "too_many_recipients", 400, false, 2, "The mail has more recipients than it may have.", "Name at most as many recipients as details says.";
    TooManyRules = "too_many_rules", 400, false, 2, "The source has more rules than it may have.", "Use at most 32 rules.";
    TransportUnavailable = "transport_unavailable", 422, false, 2, "No transport can take this mail.", "Ask the operator to set a transport up.";
    Unauthenticated = "unauthenticated", 401, false, 2, "A valid key is needed.", "Send Authorization: Bearer with a key.";
    Unavailable = "unavailable", 503, true, 2, "The service cannot store or answer this now.", "Try again in a few seconds.";
    UnsupportedMediaType = "unsupported_media_type", 415, false, 2, "The content type is not one this route takes.", "Send the content type that the route names.";
    UploadNotFound = "upload_not_found", 404, false, 1, "There is no such upload, or it is older than a day.", "Upload the file again and use the new id.";
    UsernameTaken = "username_taken", 409, false, 2, "The tenant has an identity with this username.", "Choose another username.";
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_unique_and_speak_in_sentences() {
        assert!(ErrorCode::ALL.is_sorted_by_key(|code| code.as_str()));
        for code in ErrorCode::ALL {
            assert!(
                code.message().ends_with('.') && code.fix().ends_with('.'),
                "{code}"
            );
        }
    }
}
