//! What was used and what is left.

use postroom_types::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// Usage of a workspace.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Usage {
    /// `disabled`: nothing is billed here; caps are the policy's.
    #[schemars(extend("enum" = ["metered", "exempt", "disabled"]))]
    pub billing: String,
    /// The plan; a self-hosted one has no period.
    pub plan: Plan,
    /// What is counted.
    pub features: Vec<Feature>,
    /// Units bought beside the plan; none where nothing is billed.
    pub topups: Topups,
    /// Plans to choose from; none where nothing is billed.
    pub plans: Vec<Plan>,
    /// What the policy allows a day, and when the day ends.
    pub caps: Vec<Cap>,
}

/// A plan.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Plan {
    /// Its name.
    pub plan_id: String,
    /// Whether it runs.
    #[schemars(extend("enum" = ["active", "trialing", "past_due", "canceled", "incomplete"]))]
    pub status: String,
    /// When its period ends.
    pub current_period_end: Option<Timestamp>,
    /// Whether it ends then.
    pub cancel_at_period_end: bool,
}

/// One thing that is counted.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Feature {
    /// What.
    #[schemars(extend("enum" = ["inboxes", "sends", "triage", "custom_domains", "storage_gb", "seats"]))]
    pub feature: String,
    /// How many the plan grants; null without a bound.
    pub granted: Option<u64>,
    /// How many were used; sends are recipients that a transport accepted.
    pub used: u64,
    /// How many are left; null without a bound.
    pub remaining: Option<u64>,
    /// Whether the plan sets no bound.
    pub unlimited: bool,
    /// When the count begins anew.
    pub resets_at: Option<Timestamp>,
}

/// Units bought beside a plan.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Topups {
    /// Mailboxes.
    pub inboxes: u64,
    /// Recipients.
    pub sends: u64,
    /// Triaged mails.
    pub triage: u64,
}

/// How many recipients may be written to in a day.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Cap {
    /// Whose: `identity` or `tenant`.
    #[schemars(extend("enum" = ["identity", "tenant"]))]
    pub cap: String,
    /// How many.
    pub limit: u64,
    /// How many were written to today, those on their way included.
    pub used: u64,
    /// How many are left today.
    pub remaining: u64,
    /// When the day ends in the workspace's time zone.
    pub resets_at: Timestamp,
}
