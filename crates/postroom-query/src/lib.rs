//! The search language: lexer, parser, canonical printer and plan.
