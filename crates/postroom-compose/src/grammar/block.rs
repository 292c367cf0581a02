//! The rows of blocks.

mod band;
mod key;
mod lists;
mod pictures;
mod words;

use super::BlockRow;

/// Every type of block, containers first.
pub(crate) const BLOCKS: &[BlockRow] = &[
    band::BODY,
    band::PANEL,
    band::SECTION,
    band::HERO,
    band::COLUMN,
    band::IF,
    band::EACH,
    words::HEADING,
    words::TEXT,
    words::BUTTON,
    pictures::IMAGE,
    pictures::DIVIDER,
    pictures::SPACER,
    lists::LIST,
    lists::ITEM,
    lists::TABLE,
    lists::ROW,
    lists::CELL,
    lists::MENU,
    lists::MENU_ITEM,
    lists::SOCIAL,
    lists::SOCIAL_ITEM,
    pictures::VIDEO,
    words::CODE,
    words::QUOTE,
    words::UNSUBSCRIBE,
    words::FOOTER,
    words::ADDRESS,
    words::RAW,
];
