//! What an agent sees: objects, budgets, labels.
