//! From components to HTML.
//!
//! The product has one backend, [`Tables`]: it makes the tables and Outlook comments that npm mjml 5
//! makes from the same components, and needs no MJML reader, so that no template tag and no word of
//! an author is ever parsed again.

mod boxes;
mod hero;
pub(in crate::backend) mod layout;
mod leaf;
mod page;
mod picture;
mod styled;
mod writer;

use crate::emit::{Output, component::Page};

/// Makes HTML from components.
pub trait HtmlBackend {
    /// A whole HTML page.
    fn page(&self, page: &Page) -> Output;

    /// What stands inside the body, for a page that somebody else makes.
    fn fragment(&self, page: &Page) -> Output;
}

/// Tables as npm mjml makes them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tables;

impl HtmlBackend for Tables {
    fn page(&self, page: &Page) -> Output {
        page::whole(page)
    }

    fn fragment(&self, page: &Page) -> Output {
        page::fragment(page)
    }
}
