//! Head and body of the page.

use crate::emit::{Output, component::Page};

use super::{layout, styled, writer::Writer};

/// Width below which columns stack, px.
const BREAKPOINT: u32 = 480;

const RESET: &str = "#outlook a { padding:0; }
body { margin:0;padding:0;-webkit-text-size-adjust:100%;-ms-text-size-adjust:100%; }
table, td { border-collapse:collapse;mso-table-lspace:0pt;mso-table-rspace:0pt; }
img { border:0;height:auto;line-height:100%; outline:none;text-decoration:none;\
-ms-interpolation-mode:bicubic; }
p { display:block;margin:13px 0; }";

/// A whole page.
pub(super) fn whole(page: &Page) -> Output {
    let mut writer = Writer::new(page);
    article(&mut writer, page);
    let head = head(page);
    writer.finish(&head, "</body>\n</html>\n", &page.blocks)
}

/// What stands inside the body. Columns need the style sheet of the head to stand beside each
/// other, so it comes first.
pub(super) fn fragment(page: &Page) -> Output {
    let mut writer = Writer::new(page);
    article(&mut writer, page);
    let mut head = String::new();
    widths(&mut head, page);
    styles(&mut head, page);
    writer.finish(&head, "", &page.blocks)
}

/// The element that says that this is an e-mail and in which language; mail programs drop what
/// stands on `html` and `body`.
fn article(writer: &mut Writer, page: &Page) {
    let label = (!page.title.is_empty()).then_some(page.title.as_str());
    let style = format!("word-spacing:normal;background-color:{};", page.background);
    writer
        .tag("div")
        .some("aria-label", label)
        .attr("aria-roledescription", "email")
        .attr("role", "article")
        .attr("lang", &page.lang)
        .attr("dir", page.dir)
        .attr("style", &style)
        .open();
    writer.newline();
    layout::rows(writer, &page.body, f64::from(page.width), None);
    writer.newline();
    writer.line("</div>");
}

fn head(page: &Page) -> String {
    let mut head = String::with_capacity(4 * 1024);
    let mut line = |text: &str| {
        head.push_str(text);
        head.push('\n');
    };
    line("<!doctype html>");
    line(&format!(
        "<html lang=\"{}\" dir=\"{}\" xmlns=\"http://www.w3.org/1999/xhtml\" \
         xmlns:v=\"urn:schemas-microsoft-com:vml\" xmlns:o=\"urn:schemas-microsoft-com:office:office\">",
        page.lang, page.dir
    ));
    line("<head>");
    line(&format!("<title>{}</title>", page.title));
    line("<!--[if !mso]><!-->");
    line("<meta http-equiv=\"X-UA-Compatible\" content=\"IE=edge\">");
    line("<!--<![endif]-->");
    line("<meta http-equiv=\"Content-Type\" content=\"text/html; charset=UTF-8\">");
    line("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    line(&format!("<style type=\"text/css\">\n{RESET}\n</style>"));
    if page.mso {
        line("<!--[if mso]>\n<noscript>\n<xml>\n<o:OfficeDocumentSettings>\n<o:AllowPNG/>");
        line("<o:PixelsPerInch>96</o:PixelsPerInch>\n</o:OfficeDocumentSettings>\n</xml>");
        line("</noscript>\n<![endif]-->");
        line("<!--[if lte mso 11]>\n<style type=\"text/css\">");
        line(".mj-outlook-group-fix { width:100% !important; }\n</style>\n<![endif]-->");
    }
    widths(&mut head, page);
    styles(&mut head, page);
    for raw in &page.head {
        head.push_str(raw);
        head.push('\n');
    }
    head.push_str("</head>\n<body");
    if let Some(class) = &page.class {
        head.push_str(&format!(" class=\"{class}\""));
    }
    let style = format!("word-spacing:normal;background-color:{};", page.background);
    head.push_str(&format!(" style=\"{style}\">\n"));
    if !page.preview.is_empty() {
        head.push_str(&format!(
            "<div style=\"display:none;font-size:1px;color:#ffffff;line-height:1px;max-height:0px;\
             max-width:0px;opacity:0;overflow:hidden;\">{}</div>\n",
            page.preview
        ));
    }
    head
}

/// Style sheets that the components ask for.
fn widths(head: &mut String, page: &Page) {
    let styled = styled::Styled::of(page.every.as_ref().unwrap_or(&page.body));
    if !styled.widths.is_empty() {
        let rules = |prefix: &str| {
            let rules = styled.widths.iter().map(|(class, share)| {
                format!("{prefix}.{class} {{ width:{share}% !important; max-width:{share}%; }}\n")
            });
            rules.collect::<String>()
        };
        head.push_str(&format!(
            "<style type=\"text/css\">\n@media only screen and (min-width:{BREAKPOINT}px) {{\n{}}}\n\
             </style>\n<style media=\"screen and (min-width:{BREAKPOINT}px)\">\n{}</style>\n",
            rules(""),
            rules(".moz-text-html ")
        ));
    }
    if styled.has_fluid_image {
        let below = BREAKPOINT - 1;
        head.push_str(&format!(
            "<style type=\"text/css\">\n@media only screen and (max-width:{below}px) {{\n\
             table.mj-full-width-mobile {{ width:100% !important; }}\n\
             td.mj-full-width-mobile {{ width:auto !important; }}\n}}\n</style>\n"
        ));
    }
}

fn styles(head: &mut String, page: &Page) {
    for style in &page.styles {
        head.push_str(&format!("<style type=\"text/css\">\n{style}\n</style>\n"));
    }
}
