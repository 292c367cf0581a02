//! Documents that are worked on.

use super::{Shared, Sql, all, bits};
use crate::{
    rows::{self, columns},
    sql::Conn,
};
use postroom_core::Needs;

pub(super) async fn load_documents(conn: &Conn, needs: &Needs, state: Shared<'_>) -> Sql<()> {
    let found = conn
        .fetch_in(
            concat!(
                "SELECT ",
                columns!(document_session),
                " FROM document_sessions WHERE id IN ({})"
            ),
            1,
            bits(needs.documents.iter().map(|id| id.bits())),
        )
        .await?;
    for row in all(&found, rows::document_session)? {
        state.borrow_mut().documents.insert(row.id, row);
    }
    for tenant in &needs.document_counts {
        let sql = "SELECT COUNT(*) FROM document_sessions WHERE tenant_id = $1";
        let found = conn.fetch(sql, vec![tenant.bits().into()]).await?;
        let count = found.first().map_or(Ok(0), |row| rows::unsigned(row, 0))?;
        state.borrow_mut().document_counts.insert(*tenant, count);
    }
    Ok(())
}
