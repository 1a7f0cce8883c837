//! Reading a shader from beginning to end.

use std::collections::HashSet;

use naga::Module;
use naga::valid::Capabilities;

use super::error::ShaderError;
use super::graph::Graph;
use super::layout::Types;
use super::lines::Lines;
use super::naga_front::{self, Text};
use super::prelude::{Appendix, library_of};
use super::reflection::{Reflection, StageLines, StageNames};
use super::scan::{Header, Scan};
use super::signature::{self, Stage, StageFunction};
use super::{loops, reserved, resources};
use crate::tessellator::Domain;

/// Reads a shader whose device is not known yet: what some device could allow passes.
///
/// # Errors
///
/// [`ShaderError`] says which line breaks the contract and what to do about it. No text makes this panic.
pub fn reflect(source: &str, names: &StageNames, domain: Domain) -> Result<Reflection, ShaderError> {
    reflect_with(source, names, domain, any_capabilities())
}

/// What compute shaders can do on some device.
pub(crate) fn any_capabilities() -> Capabilities {
    let other_pipelines = Capabilities::MESH_SHADER
        | Capabilities::MESH_SHADER_POINT_TOPOLOGY
        | Capabilities::RAY_TRACING_PIPELINE
        | Capabilities::COOPERATIVE_MATRIX;
    Capabilities::all().difference(other_pipelines)
}

/// Reads a shader for a device with these capabilities.
pub(crate) fn reflect_with(
    source: &str,
    names: &StageNames,
    domain: Domain,
    capabilities: Capabilities,
) -> Result<Reflection, ShaderError> {
    check_names(names)?;
    let lines = Lines::new(source);
    let scan = Scan::new(source, &lines)?;
    let alone = Text { lines: &lines, user_length: source.len(), appendix: None, accessors: [("", 0); 3] };
    if let Some((line, what)) = &scan.unfinished {
        // What is appended would be read as part of it. naga knows better what is missing, where it is a matter of
        // syntax and not found out at the very end only.
        if !scan.loose_attributes {
            match naga_front::parse(source, &alone) {
                Ok(_) | Err(ShaderError::Wgsl { column: None, .. }) => {}
                Err(error) => return Err(error),
            }
        }
        return Err(ShaderError::Unfinished { line: *line, what: what.clone() });
    }
    for (name, line) in &scan.declared {
        if let Some(problem) = reserved::owner(name) {
            return Err(ShaderError::ReservedName { name: name.clone(), line: *line, problem });
        }
    }
    let headers = Headers::find(&scan, names, domain)?;
    let result = |stage, header: &'_ Header| match &header.result {
        Some(result) if !result.starts_with('@') => Ok(result.clone()),
        found => {
            // Where the header is no WGSL, naga says so better.
            if !header.complete {
                naga_front::parse(source, &alone)?;
            }
            let problem = if found.is_some() { "its result has an attribute" } else { "it returns nothing" };
            Err(signature::wrong_signature(stage, header, domain, problem.to_owned()))
        }
    };
    let input_point = result(Stage::Vertex, headers.vertex)?;
    let output_header = headers.hull.unwrap_or(headers.vertex);
    let output_point = result(Stage::Hull, output_header)?;
    let constants = result(Stage::PatchConstants, headers.patch_constants)?;
    result(Stage::Domain, headers.domain)?;

    let appendix = Appendix::new(&input_point, &output_point, &constants, library_of(source));
    let accessors = [headers.vertex, output_header, headers.patch_constants];
    let places = Text {
        lines: &lines,
        user_length: source.len(),
        appendix: Some(&appendix),
        accessors: accessors.map(|header| (header.name.as_str(), header.line)),
    };
    let module = naga_front::parse(&format!("{source}{}", appendix.text), &places)?;
    let reading = Reading { source, names, domain, lines: &lines, scan: &scan, headers: &headers, module: &module };
    let reflection = naga_front::contain("reflecting", || reading.reflection())??;
    naga_front::validate(&module, capabilities, &places)?;
    Ok(reflection)
}

/// The descriptor's names have to be names, and different ones.
fn check_names(names: &StageNames) -> Result<(), ShaderError> {
    let mut given: Vec<(Stage, &str)> = vec![
        (Stage::Vertex, &names.vertex),
        (Stage::PatchConstants, &names.patch_constants),
        (Stage::Domain, &names.domain),
    ];
    given.extend(names.hull.as_deref().map(|name| (Stage::Hull, name)));
    let mut seen = HashSet::new();
    for (stage, name) in given {
        let twice = (!seen.insert(name)).then_some("another stage function has already");
        if let Some(problem) = reserved::stage_name_problem(name).or(twice) {
            return Err(ShaderError::InvalidStageName { stage: stage.word(), name: name.to_owned(), problem });
        }
    }
    Ok(())
}

/// The headers of the stage functions.
struct Headers<'a> {
    vertex: &'a Header,
    hull: Option<&'a Header>,
    patch_constants: &'a Header,
    domain: &'a Header,
}

impl<'a> Headers<'a> {
    fn find(scan: &'a Scan, names: &StageNames, domain: Domain) -> Result<Self, ShaderError> {
        let find = |stage: Stage, name: &str| {
            scan.function(name).ok_or_else(|| ShaderError::MissingFunction {
                stage: stage.word(),
                function: name.to_owned(),
                expected: stage.signature(name, domain),
                advice: if stage == Stage::Hull {
                    "; write it, give the name of yours in the descriptor, or give none to pass control points through"
                } else {
                    "; write it, or give the name of yours in the descriptor"
                },
            })
        };
        Ok(Self {
            vertex: find(Stage::Vertex, &names.vertex)?,
            hull: names.hull.as_deref().map(|name| find(Stage::Hull, name)).transpose()?,
            patch_constants: find(Stage::PatchConstants, &names.patch_constants)?,
            domain: find(Stage::Domain, &names.domain)?,
        })
    }
}

/// Everything that the reflection is read from.
struct Reading<'a> {
    source: &'a str,
    names: &'a StageNames,
    domain: Domain,
    lines: &'a Lines<'a>,
    scan: &'a Scan,
    headers: &'a Headers<'a>,
    module: &'a Module,
}

impl<'a> Reading<'a> {
    /// The contract is checked before naga validates, since it has more to say of what both would refuse.
    fn reflection(&self) -> Result<Reflection, ShaderError> {
        self.check_entry_points()?;
        resources::check_variables(self.module, self.lines)?;
        let vertex = self.stage(Stage::Vertex, self.headers.vertex)?;
        let hull = self.headers.hull.map(|header| self.stage(Stage::Hull, header)).transpose()?;
        let patch_constants = self.stage(Stage::PatchConstants, self.headers.patch_constants)?;
        let domain = self.stage(Stage::Domain, self.headers.domain)?;
        let stages = [Some(vertex), hull, Some(patch_constants), Some(domain)];

        let types = Types::new(self.module)?;
        let (attributes, takes_vertex_id) = signature::vertex_parameters(&types, vertex, self.domain)?;
        for stage in stages.iter().flatten() {
            signature::check_parameters(&types, *stage, self.domain)?;
        }
        let input_point = types.point(vertex.header, vertex.result(self.domain)?)?;
        let output_point = match hull {
            Some(hull) => types.point(hull.header, hull.result(self.domain)?)?,
            None => input_point.clone(),
        };
        let (constants, factors_member) =
            types.constants(patch_constants.header, patch_constants.result(self.domain)?, self.domain)?;
        let surface = signature::surface(&types, domain, self.domain)?;

        let graph = Graph::new(self.module, self.lines)?;
        let mut used = HashSet::new();
        for stage in stages.into_iter().flatten() {
            used.extend(graph.walk(stage)?);
        }
        Ok(Reflection {
            source: self.source.to_owned(),
            names: self.names.clone(),
            lines: StageLines {
                vertex: vertex.header.line,
                hull: hull.map(|hull| hull.header.line),
                patch_constants: patch_constants.header.line,
                domain: domain.header.line,
            },
            attributes,
            takes_vertex_id,
            input_point,
            output_point,
            constants,
            factors_member,
            surface,
            private_variables: resources::private_variables(self.module, &used),
            bindings: resources::bindings(&types, self.lines, &used)?,
            overrides: resources::overrides(&types, self.lines),
            loops_end: loops::all_end(self.module),
        })
    }

    fn check_entry_points(&self) -> Result<(), ShaderError> {
        match self.module.entry_points.first() {
            None => Ok(()),
            Some(entry_point) => Err(ShaderError::EntryPoint {
                function: entry_point.name.clone(),
                line: self.scan.function(&entry_point.name).map_or(1, |header| header.line),
            }),
        }
    }

    fn stage(&self, stage: Stage, header: &'a Header) -> Result<StageFunction<'a>, ShaderError> {
        let mut functions = self.module.functions.iter();
        let found = functions.find(|(_, function)| function.name.as_deref() == Some(header.name.as_str()));
        // The scanner has seen it, so naga has too; the error is for the day they differ.
        let (handle, function) = found.ok_or_else(|| ShaderError::MissingFunction {
            stage: stage.word(),
            function: header.name.clone(),
            expected: stage.signature(&header.name, self.domain),
            advice: "",
        })?;
        Ok(StageFunction { stage, header, function, handle })
    }
}
