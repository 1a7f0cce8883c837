//! The pattern of one patch as an SVG drawing: rings, stitches and points, U to the right and V down.

use crate::tessellate::{Pattern, Request};
use patchwave::tessellator::{Domain, OutputTopology};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Length of the domain's sides on the page.
const SIDE: f64 = 960.0;
/// Room around the domain for its labels.
const MARGIN: f64 = 80.0;
/// Height of an equilateral triangle with side 1.
const TRI_HEIGHT: f64 = 0.866_025_403_784_438_6;
/// Ring r, or an isoline's line r, has colour r, over and over. The first is the outer edge.
const COLOURS: [&str; 7] = ["#1d3557", "#d1495b", "#2a9d8f", "#8f5bb5", "#e07a1f", "#3a86c8", "#6a8d2f"];
/// The fill of transition triangles, and of the others.
const TRANSITION: &str = "#ffe3b3";
const REGULAR: &str = "#f3f6f9";

/// Draws a pattern. `mesh` holds the indices that tell which points belong together; it differs from the pattern's own
/// only for points, which join nothing.
pub(crate) fn draw(request: &Request, pattern: &Pattern, mesh: &[u32]) -> String {
    let page = Page { domain: request.domain };
    let height = MARGIN * 2.0 + SIDE * if request.domain == Domain::Tri { TRI_HEIGHT } else { 1.0 };
    let width = MARGIN * 2.0 + SIDE;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"17\" stroke-linejoin=\"round\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    let at: Vec<_> =
        pattern.fixed16.iter().map(|&[u, v]| page.place(f64::from(u) / 65536.0, f64::from(v) / 65536.0)).collect();
    let scale = Scale::of(&at, mesh);

    // Writing to a String cannot fail, here and below.
    let _ = writeln!(svg, "<path d=\"{}\" fill=\"none\" stroke=\"#c3cad2\" stroke-width=\"1\"/>", page.outline());
    let classes = match request.domain {
        Domain::Isoline => lines_of(&pattern.fixed16),
        Domain::Tri | Domain::Quad => {
            let rings = rings_of(at.len(), mesh);
            if request.topology != OutputTopology::Point {
                triangles(&mut svg, &at, mesh, &rings, &scale);
            }
            rings
        }
    };
    if request.domain == Domain::Isoline && request.topology == OutputTopology::Line {
        segments(&mut svg, &at, mesh, &classes, &scale);
    }
    dots(&mut svg, &at, &classes, &scale);
    labels(&mut svg, request, pattern, &page);
    svg + "</svg>\n"
}

/// Where the domain lies on the page.
struct Page {
    domain: Domain,
}

impl Page {
    fn place(&self, u: f64, v: f64) -> (f64, f64) {
        // The triangle stands on V's corner, so that U points right, V down, and clockwise stays clockwise.
        let (x, y) = if self.domain == Domain::Tri { (u + v / 2.0, v * TRI_HEIGHT) } else { (u, v) };
        (MARGIN + x * SIDE, MARGIN + y * SIDE)
    }

    fn corners(&self) -> &'static [(f64, f64)] {
        match self.domain {
            Domain::Tri => &[(0.0, 1.0), (0.0, 0.0), (1.0, 0.0)],
            Domain::Quad | Domain::Isoline => &[(0.0, 1.0), (0.0, 0.0), (1.0, 0.0), (1.0, 1.0)],
        }
    }

    fn outline(&self) -> String {
        path(&self.corners().iter().map(|&(u, v)| self.place(u, v)).collect::<Vec<_>>())
    }
}

/// Sizes that follow from how dense the pattern is, so that 64 segments an edge stay readable.
struct Scale {
    dot: f64,
    line: f64,
    /// Whether there is room for the points' numbers.
    numbers: bool,
}

impl Scale {
    fn of(at: &[(f64, f64)], mesh: &[u32]) -> Self {
        // The typical distance of neighbours: that of N points spread evenly over the page.
        let primitives = mesh.len() / 3;
        let spacing = SIDE / (at.len().max(primitives / 2).max(1) as f64).sqrt();
        Self { dot: (spacing * 0.07).clamp(1.3, 6.0), line: (spacing * 0.02).clamp(0.6, 2.2), numbers: at.len() <= 60 }
    }
}

/// The ring of each point, told from connectivity alone: the mesh's border is the outer edge, and each further ring is
/// what the one before is joined to. Positions would not do, since fractional_odd puts rings on top of each other.
fn rings_of(points: usize, mesh: &[u32]) -> Vec<usize> {
    const UNKNOWN: usize = usize::MAX;
    let mut uses = BTreeMap::new();
    for triangle in mesh.chunks_exact(3) {
        for edge in edges(triangle) {
            *uses.entry(edge).or_insert(0_u32) += 1;
        }
    }
    let mut neighbours = vec![Vec::new(); points];
    let mut rings = vec![UNKNOWN; points];
    let mut ring = Vec::new();
    for (&(a, b), &count) in &uses {
        if a >= points || b >= points {
            continue;
        }
        neighbours[a].push(b);
        neighbours[b].push(a);
        if count == 1 {
            for end in [a, b] {
                if rings[end] == UNKNOWN {
                    rings[end] = 0;
                    ring.push(end);
                }
            }
        }
    }
    let mut number = 0;
    while !ring.is_empty() {
        number += 1;
        let mut next = Vec::new();
        for &point in &ring {
            for &neighbour in &neighbours[point] {
                if rings[neighbour] == UNKNOWN {
                    rings[neighbour] = number;
                    next.push(neighbour);
                }
            }
        }
        ring = next;
    }
    rings.iter().map(|&ring| if ring == UNKNOWN { 0 } else { ring }).collect()
}

/// The line of each point of an isoline patch: points of a line have one v and follow each other.
fn lines_of(fixed16: &[[u32; 2]]) -> Vec<usize> {
    let mut line = 0;
    let mut last = None;
    fixed16
        .iter()
        .map(|&[_, v]| {
            if last.is_some_and(|last| last != v) {
                line += 1;
            }
            last = Some(v);
            line
        })
        .collect()
}

/// The three sides of a triangle, each with the smaller index first.
fn edges(triangle: &[u32]) -> [(usize, usize); 3] {
    let side = |from: usize, to: usize| {
        let (a, b) = (triangle[from] as usize, triangle[to] as usize);
        (a.min(b), a.max(b))
    };
    [side(0, 1), side(1, 2), side(2, 0)]
}

fn triangles(svg: &mut String, at: &[(f64, f64)], mesh: &[u32], rings: &[usize], scale: &Scale) {
    let mut fills = [String::new(), String::new()];
    // Each side and whether it is a ring's: the patch's border, or with another ring's point across it. What joins two
    // points of the innermost ring across the middle is not.
    let mut sides: BTreeMap<(usize, usize), (u32, bool)> = BTreeMap::new();
    for triangle in mesh.chunks_exact(3) {
        let corners: Vec<_> = triangle.iter().filter_map(|&index| at.get(index as usize).copied()).collect();
        if corners.len() < 3 {
            continue;
        }
        let of = |corner: usize| rings[triangle[corner] as usize];
        let within = of(0) == of(1) && of(1) == of(2);
        let transition = !within && (0..3).any(|corner| of(corner) == 0);
        fills[usize::from(transition)] += &path(&corners);
        for side in edges(triangle) {
            let (uses, borders) = sides.entry(side).or_default();
            *uses += 1;
            *borders |= !within;
        }
    }
    let mut across = String::new();
    let mut along: BTreeMap<usize, String> = BTreeMap::new();
    for ((a, b), (uses, borders)) in sides {
        let of_ring = rings[a] == rings[b] && (borders || uses == 1);
        let to = if of_ring { along.entry(rings[a]).or_default() } else { &mut across };
        *to += &open_path(&[at[a], at[b]]);
    }
    for (fill, d) in [REGULAR, TRANSITION].iter().zip(&fills) {
        if !d.is_empty() {
            let _ = writeln!(svg, "<path d=\"{d}\" fill=\"{fill}\"/>");
        }
    }
    stroke(svg, &across, "#9aa5b1", scale.line);
    for (ring, d) in along.iter().rev() {
        stroke(svg, d, COLOURS[ring % COLOURS.len()], scale.line * 1.7);
    }
}

fn segments(svg: &mut String, at: &[(f64, f64)], mesh: &[u32], lines: &[usize], scale: &Scale) {
    let mut along: BTreeMap<usize, String> = BTreeMap::new();
    for pair in mesh.chunks_exact(2) {
        let (a, b) = (pair[0] as usize, pair[1] as usize);
        if let (Some(&from), Some(&to)) = (at.get(a), at.get(b)) {
            *along.entry(lines[a]).or_default() += &open_path(&[from, to]);
        }
    }
    for (line, d) in &along {
        stroke(svg, d, COLOURS[line % COLOURS.len()], scale.line * 1.7);
    }
}

fn stroke(svg: &mut String, d: &str, colour: &str, width: f64) {
    if !d.is_empty() {
        let _ = writeln!(svg, "<path d=\"{d}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width:.2}\"/>");
    }
}

fn dots(svg: &mut String, at: &[(f64, f64)], classes: &[usize], scale: &Scale) {
    // Inner ones first: where rings lie on top of each other, the outer edge shows.
    for (number, (&(x, y), &class)) in at.iter().zip(classes).enumerate().rev() {
        let colour = COLOURS[class % COLOURS.len()];
        let _ = writeln!(svg, "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{:.2}\" fill=\"{colour}\"/>", scale.dot);
        if scale.numbers {
            let _ = writeln!(
                svg,
                "<text x=\"{:.2}\" y=\"{:.2}\" font-size=\"14\" fill=\"{colour}\">{number}</text>",
                x + scale.dot + 2.0,
                y - scale.dot - 1.0
            );
        }
    }
}

fn labels(svg: &mut String, request: &Request, pattern: &Pattern, page: &Page) {
    let factors: Vec<_> = request.factor_bits.iter().map(|&bits| f32::from_bits(bits)).collect();
    let bottom = page.corners().iter().map(|&(u, v)| page.place(u, v).1).fold(0.0, f64::max);
    let (middle, center) = (MARGIN + SIDE / 2.0, MARGIN + SIDE / 2.0);
    // Far enough out to leave the points' numbers their room.
    let (left, right) = (MARGIN - 34.0, MARGIN + SIDE + 40.0);
    let (top, under) = (MARGIN - 34.0, bottom + 34.0);
    let mut text = |x: f64, y: f64, turn: f64, words: String| {
        let _ = writeln!(
            svg,
            "<text transform=\"translate({x:.1} {y:.1}) rotate({turn})\" text-anchor=\"middle\" fill=\"#333333\">{words}</text>"
        );
    };
    match (request.domain, factors.as_slice()) {
        (Domain::Isoline, [density, detail]) => {
            text(middle, top, 0.0, format!("detail {detail}: segments along U →"));
            text(left, center, 90.0, format!("density {density}: lines along V →"));
        }
        (Domain::Tri, [u, v, w, inside]) => {
            // Beside the middles of the slanting edges.
            let (across, down) = (SIDE / 4.0 - 36.0, MARGIN + SIDE * TRI_HEIGHT / 2.0 + 20.0);
            text(MARGIN + across, down, 60.0, format!("edge 0, U==0: {u}"));
            text(middle, top, 0.0, format!("edge 1, V==0: {v}"));
            text(MARGIN + SIDE - across, down, -60.0, format!("edge 2, W==0: {w}"));
            text(MARGIN + across, bottom, 0.0, format!("inside {inside}"));
            text(MARGIN, top, 0.0, "W = 1".to_owned());
            text(MARGIN + SIDE, top, 0.0, "U = 1".to_owned());
            text(middle, under, 0.0, "V = 1".to_owned());
        }
        (Domain::Quad, [u0, v0, u1, v1, along_u, along_v]) => {
            text(left, center, -90.0, format!("edge 0, U==0: {u0}"));
            text(middle, top, 0.0, format!("edge 1, V==0: {v0}"));
            text(right, center, 90.0, format!("edge 2, U==1: {u1}"));
            text(middle, under, 0.0, format!("edge 3, V==1: {v1}"));
            text(MARGIN, top, 0.0, "u, v = 0, 0".to_owned());
            let inside = format!("inside {along_u} along U, {along_v} along V");
            text(MARGIN + SIDE - 120.0, under, 0.0, inside);
        }
        // The number of factors is checked before anything is drawn.
        _ => {}
    }
    let what = if pattern.culled {
        "culled: an edge factor is NaN, 0 or less".to_owned()
    } else {
        let (each, primitives) = match request.topology {
            OutputTopology::Point => (1, "points drawn"),
            OutputTopology::Line => (2, "lines"),
            OutputTopology::TriangleCw | OutputTopology::TriangleCcw => (3, "triangles"),
        };
        format!("{} domain points, {} {primitives}", pattern.fixed16.len(), pattern.indices.len() / each)
    };
    let _ = writeln!(svg, "<text x=\"{MARGIN}\" y=\"{:.1}\" fill=\"#333333\">{what}</text>", bottom + 60.0);
}

/// A closed path through places on the page.
fn path(places: &[(f64, f64)]) -> String {
    open_path(places) + "Z"
}

/// A path through places on the page.
fn open_path(places: &[(f64, f64)]) -> String {
    let mut d = String::new();
    for (number, (x, y)) in places.iter().enumerate() {
        let _ = write!(d, "{}{x:.2} {y:.2}", if number == 0 { "M" } else { "L" });
    }
    d
}
