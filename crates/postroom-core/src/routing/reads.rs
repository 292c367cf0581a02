//! What an expression looks at, as far as that asks for a permission.

use cel::common::ast::{Expr, IdedExpr};

/// Whether an expression looks at a delivery's words: at `mail`, at `payload`, or at `event` in a way that
/// may reach its payload.
pub(super) fn content(at: &IdedExpr) -> bool {
    match &at.expr {
        Expr::Ident(name) => matches!(name.as_str(), "mail" | "payload" | "event"),
        Expr::Select(select) => match &select.operand.expr {
            Expr::Ident(name) if name == "event" => select.field == "payload",
            _ => content(&select.operand),
        },
        Expr::Call(call) => {
            call.target.as_deref().is_some_and(content) || call.args.iter().any(content)
        }
        Expr::Comprehension(comprehension) => [
            &comprehension.iter_range,
            &comprehension.accu_init,
            &comprehension.loop_cond,
            &comprehension.loop_step,
            &comprehension.result,
        ]
        .into_iter()
        .any(content),
        Expr::List(list) => list.elements.iter().any(content),
        // These are refused where rules are read.
        Expr::Map(_) | Expr::Struct(_) => true,
        Expr::Literal(_) | Expr::Unspecified => false,
    }
}
