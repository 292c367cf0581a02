//! Where the registry finds its room.

use std::{future::Future, pin::Pin, sync::Arc};

use postroom_app::{Failure, Room};
use postroom_types::ErrorCode;
use tokio::sync::OnceCell;

type Opening = Pin<Box<dyn Future<Output = Result<Arc<Room>, Failure>> + Send>>;

/// Where the registry finds its room: at hand, or opened by the first call that needs it.
pub struct RoomSource {
    cell: OnceCell<Arc<Room>>,
    open: Box<dyn Fn() -> Opening + Send + Sync>,
}

impl std::fmt::Debug for RoomSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RoomSource")
            .field("open", &self.cell.initialized())
            .finish_non_exhaustive()
    }
}

impl RoomSource {
    /// A room that is open.
    pub fn ready(room: Arc<Room>) -> Self {
        Self {
            cell: OnceCell::new_with(Some(room)),
            open: Box::new(|| Box::pin(std::future::ready(Err(ErrorCode::Unavailable.into())))),
        }
    }

    /// A room that `open` opens when it is first needed.
    pub fn on_demand<F>(open: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Arc<Room>, Failure>> + Send + 'static,
    {
        Self {
            cell: OnceCell::new(),
            open: Box::new(move || Box::pin(open())),
        }
    }

    pub(super) async fn room(&self) -> Result<&Arc<Room>, Failure> {
        self.cell.get_or_try_init(|| (self.open)()).await
    }

    /// The room, if it was opened.
    pub fn opened(&self) -> Option<&Arc<Room>> {
        self.cell.get()
    }
}
