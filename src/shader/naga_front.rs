//! naga's parser and validator, with errors in the user's lines and panics contained.

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

use naga::Span;
use naga::valid::{Capabilities, ModuleInfo, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};

use super::error::ShaderError;
use super::lines::Lines;
use super::prelude::Appendix;

/// The text that naga gets, and how to speak of places in it.
pub(super) struct Text<'a> {
    pub(super) lines: &'a Lines<'a>,
    /// How long the user's part is.
    pub(super) user_length: usize,
    /// What comes after it.
    pub(super) appendix: Option<&'a Appendix>,
    /// Name and line of the functions whose results the accessors of the appendix return, in its order.
    pub(super) accessors: [(&'a str, u32); 3],
}

pub(super) fn parse(text: &str, places: &Text) -> Result<naga::Module, ShaderError> {
    let parsed = contain("parsing", || naga::front::wgsl::parse_str(text))?;
    parsed.map_err(|error| {
        let mut message = error.message().to_owned();
        let labels: Vec<(Span, &str)> = error.labels().collect();
        // The first label says what was wrong at the place itself; the message mostly says so already.
        if let Some((_, label)) = labels.first()
            && !label.is_empty()
            && !message.contains(label)
        {
            message.push_str(&format!(" ({label})"));
        }
        for (span, label) in labels.iter().skip(1).filter(|(_, label)| !label.is_empty()) {
            let at = span.to_range().filter(|range| range.start < places.user_length);
            let place = at.map(|range| format!("line {}: ", places.lines.line(range.start))).unwrap_or_default();
            message.push_str(&format!("; {place}{label}"));
        }
        for note in error.notes() {
            message.push_str(&format!("; {note}"));
        }
        places.explain(labels.first().map(|(span, _)| *span), message)
    })
}

pub(super) fn validate(
    module: &naga::Module,
    capabilities: Capabilities,
    places: &Text,
) -> Result<ModuleInfo, ShaderError> {
    let validated = contain("validating", || {
        Validator::new(ValidationFlags::all(), capabilities)
            .subgroup_stages(ShaderStages::COMPUTE)
            .subgroup_operations(SubgroupOperationSet::all())
            .validate(module)
            .map_err(Box::new)
    })?;
    validated.map_err(|error| {
        let mut message = error.as_inner().to_string();
        let mut source = error.as_inner().source();
        while let Some(inner) = source {
            message.push_str(&format!(": {inner}"));
            source = inner.source();
        }
        // From the whole function to the expression; the narrowest says most.
        let spans = error.spans().filter_map(|(span, label)| Some((span.to_range()?, *span, label)));
        let narrowest = spans.min_by_key(|(range, ..)| range.len());
        if let Some((_, _, label)) = &narrowest
            && !label.starts_with("naga::")
        {
            message.push_str(&format!(" ({label})"));
        }
        places.explain(narrowest.map(|(_, span, _)| span), message)
    })
}

/// Runs a part of naga, which has panicked on malformed modules before.
pub(super) fn contain<T>(step: &'static str, run: impl FnOnce() -> T) -> Result<T, ShaderError> {
    // Nothing that `run` changes is looked at after a panic.
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let message = payload
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()))
            .unwrap_or_else(|| "no message".to_owned());
        ShaderError::CompilerFailure { step, message }
    })
}

impl Text<'_> {
    /// An error of naga's, at the user's line.
    fn explain(&self, span: Option<Span>, message: String) -> ShaderError {
        let Some(range) = span.and_then(Span::to_range) else {
            return ShaderError::Wgsl { line: None, column: None, function: None, message };
        };
        if range.start < self.user_length {
            return ShaderError::Wgsl {
                line: Some(self.lines.line(range.start)),
                column: Some(self.lines.column(range.start)),
                function: None,
                message,
            };
        }
        // Past the user's text there are only the given structs, which are sound, and the accessors, each of which can
        // only fail for the result type of its stage function.
        let at = range.start - self.user_length;
        let accessor = self.appendix.and_then(|appendix| {
            let index = appendix.ends.iter().position(|end| at < *end)?;
            self.accessors.get(index)
        });
        match accessor {
            Some((function, line)) => ShaderError::Wgsl {
                line: Some(*line),
                column: None,
                function: Some((*function).to_owned()),
                message: format!("the result type of `{function}` cannot be used: {message}"),
            },
            None => ShaderError::Wgsl {
                line: Some(self.lines.last()),
                column: None,
                function: None,
                message: format!("the text ends too early: {message}"),
            },
        }
    }
}
