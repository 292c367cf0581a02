//! Raw HTML of authors.

/// An author's HTML, without anything that runs, loads or leaves the mail's tables.
pub(crate) fn sanitised(html: &str) -> String {
    ammonia::Builder::default()
        .add_generic_attributes(["style", "align", "valign", "width", "height", "bgcolor"])
        .filter_style_properties(
            [
                "color",
                "background-color",
                "font-family",
                "font-size",
                "font-weight",
                "font-style",
                "line-height",
                "text-align",
                "text-decoration",
                "padding",
                "margin",
                "border",
                "border-radius",
                "width",
            ]
            .into(),
        )
        .link_rel(None)
        .clean(html)
        .to_string()
}
