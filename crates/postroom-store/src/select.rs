//! Building a read: text and values grow together, so that a filter which is not asked for is not
//! in the text either.

use crate::{
    Store, StoreError,
    sql::{Row, Value},
};
use postroom_types::{Reach, TenantScope};
use std::fmt::Write as _;

/// A statement that reads.
pub(crate) struct Select {
    text: String,
    values: Vec<Value>,
    scans: bool,
}

impl Select {
    pub(crate) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            values: Vec::new(),
            scans: false,
        }
    }

    /// Looks at many rows for few: it may take longer than others should wait for.
    pub(crate) fn scans(mut self) -> Self {
        self.scans = true;
        self
    }

    /// More text.
    pub(crate) fn text(mut self, text: &str) -> Self {
        self.text.push_str(text);
        self
    }

    /// A value where the text stands.
    pub(crate) fn value(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        // Writing to a string cannot fail.
        let _written = write!(self.text, "${}", self.values.len());
        self
    }

    /// Text and value, when there is one to filter by.
    pub(crate) fn filter(self, text: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.text(text).value(value),
            None => self,
        }
    }

    /// A list of values in parentheses.
    pub(crate) fn list(mut self, values: impl IntoIterator<Item = Value>) -> Self {
        self.text.push('(');
        for (place, value) in values.into_iter().enumerate() {
            if place > 0 {
                self.text.push_str(", ");
            }
            self = self.value(value);
        }
        self.text(")")
    }

    /// What the scope reaches, for a table whose rows belong to an identity.
    pub(crate) fn scope(self, scope: &TenantScope) -> Self {
        self.scope_by(scope, "tenant_id", "identity_id")
    }

    /// The same under other column names.
    pub(crate) fn scope_by(self, scope: &TenantScope, tenant: &str, identity: &str) -> Self {
        let scoped = self.text(tenant).text(" = ").value(scope.tenant().bits());
        match scope.reach() {
            Reach::Tenant => scoped,
            Reach::Identity(id) => scoped
                .text(" AND ")
                .text(identity)
                .text(" = ")
                .value(id.bits()),
        }
    }

    pub(crate) async fn fetch(self, store: &Store) -> Result<Vec<Row>, StoreError> {
        if self.scans {
            return Ok(store.pool().scan(self.text, self.values).await?);
        }
        Ok(store.pool().fetch(&self.text, self.values).await?)
    }

    /// All rows, each read by `read`.
    pub(crate) async fn all<T>(
        self,
        store: &Store,
        read: impl Fn(&Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        self.fetch(store).await?.iter().map(read).collect()
    }

    /// The first row, if there is one.
    pub(crate) async fn first<T>(
        self,
        store: &Store,
        read: impl Fn(&Row) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        self.fetch(store).await?.first().map(read).transpose()
    }
}

/// A page size as the database takes it.
pub(crate) fn rows(limit: usize) -> Value {
    Value::Int(i64::try_from(limit).unwrap_or(i64::MAX))
}
