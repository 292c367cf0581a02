//! JSON values that were read elsewhere, as drafts without places.

use postroom_types::limit;

use super::{Node, Object, Origin, Origins, Step, Value, json::Refusal};
use crate::issue::Code;

/// Takes over `value` inside the same bounds as text has.
///
/// # Errors
/// [`Refusal`] past a bound.
pub(crate) fn from_value(value: &serde_json::Value) -> Result<(Node, Origins<'static>), Refusal> {
    let mut taker = Taker {
        origins: Origins::new(None),
        bytes: 0,
    };
    let node = taker.take(value, 0, Step::Whole, 0)?;
    Ok((node, taker.origins))
}

struct Taker {
    origins: Origins<'static>,
    /// Least number of bytes that the JSON text would have.
    bytes: usize,
}

impl Taker {
    fn take(
        &mut self,
        value: &serde_json::Value,
        parent: Origin,
        step: Step,
        depth: usize,
    ) -> Result<Node, Refusal> {
        let refuse = |code, message| {
            Err(Refusal {
                code,
                offset: 0,
                message,
            })
        };
        if depth >= limit::COMPOSE_DEPTH {
            let message = format!("Values nest more than {} deep.", limit::COMPOSE_DEPTH);
            return refuse(Code::LimitDepth, message);
        }
        if self.origins.len() >= limit::COMPOSE_NODES {
            let message = format!(
                "The document has more than {} values.",
                limit::COMPOSE_NODES
            );
            return refuse(Code::LimitNodes, message);
        }
        self.bytes += match (value, &step) {
            (serde_json::Value::String(text), _) => text.len() + 2,
            (_, Step::Key(key)) => key.len() + 4,
            _ => 1,
        };
        if self.bytes > limit::COMPOSE_BYTES {
            let message = format!("The document has more than {} bytes.", limit::COMPOSE_BYTES);
            return refuse(Code::LimitSize, message);
        }
        let origin = self.origins.add(parent, step, None);
        let value = match value {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(bool) => Value::Bool(*bool),
            serde_json::Value::Number(number) => Value::Number(number.clone()),
            serde_json::Value::String(text) => Value::String(text.clone()),
            serde_json::Value::Array(items) => {
                let mut taken = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    taken.push(self.take(item, origin, Step::Index(index), depth + 1)?);
                }
                Value::Array(taken)
            }
            serde_json::Value::Object(entries) => {
                let mut object = Object::default();
                for (key, entry) in entries {
                    let step = Step::Key(key.as_str().into());
                    let node = self.take(entry, origin, step, depth + 1)?;
                    if key == "id"
                        && let Some(id) = node.as_str()
                    {
                        self.origins.name(origin, id);
                    }
                    object.0.push((key.clone(), node));
                }
                Value::Object(object)
            }
        };
        Ok(Node { origin, value })
    }
}
