//! The pattern of one patch: as a drawing of rings, stitches and points, U to the right and V down, and as OBJ.

use crate::canvas::{Anchor, At, Canvas, Colour, Drawing, Letters};
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
const COLOURS: [Colour; 7] = [
    [0x1d, 0x35, 0x57],
    [0xd1, 0x49, 0x5b],
    [0x2a, 0x9d, 0x8f],
    [0x8f, 0x5b, 0xb5],
    [0xe0, 0x7a, 0x1f],
    [0x3a, 0x86, 0xc8],
    [0x6a, 0x8d, 0x2f],
];
/// The fill of transition triangles, and of the others.
const TRANSITION: Colour = [0xff, 0xe3, 0xb3];
const REGULAR: Colour = [0xf3, 0xf6, 0xf9];
const OUTLINE: Colour = [0xc3, 0xca, 0xd2];
const ACROSS: Colour = [0x9a, 0xa5, 0xb1];
const INK: Colour = [0x33; 3];
/// Heights of labels and of the points' numbers.
const LABEL: f64 = 17.0;
const NUMBER: f64 = 14.0;

/// A pattern to be drawn. `mesh` holds the indices that tell which points belong together; it differs from the pattern's
/// own only for points, which join nothing.
pub(crate) struct Sheet<'a> {
    pub(crate) request: &'a Request,
    pub(crate) pattern: &'a Pattern,
    pub(crate) mesh: &'a [u32],
}

impl Drawing for Sheet<'_> {
    fn size(&self) -> [u32; 2] {
        let height = MARGIN * 2.0 + SIDE * if self.request.domain == Domain::Tri { TRI_HEIGHT } else { 1.0 };
        [(MARGIN * 2.0 + SIDE) as u32, height.round() as u32]
    }

    fn draw(&self, canvas: &mut dyn Canvas) {
        let Self { request, pattern, mesh } = *self;
        let page = Page { domain: request.domain };
        let place = |&[u, v]: &[u32; 2]| page.place(f64::from(u) / 65536.0, f64::from(v) / 65536.0);
        let at: Vec<At> = pattern.fixed16.iter().map(place).collect();
        let scale = Scale::of(&at, mesh);
        canvas.lines(OUTLINE, 1.0, &page.outline());
        let classes = match request.domain {
            Domain::Isoline => lines_of(&pattern.fixed16),
            Domain::Tri | Domain::Quad => {
                let rings = rings_of(at.len(), mesh);
                if request.topology != OutputTopology::Point {
                    triangles(canvas, &at, mesh, &rings, &scale);
                }
                rings
            }
        };
        if request.domain == Domain::Isoline && request.topology == OutputTopology::Line {
            segments(canvas, &at, mesh, &classes, &scale);
        }
        dots(canvas, &at, &classes, &scale);
        labels(canvas, request, pattern, &page);
    }
}

/// The pattern as Wavefront OBJ: domain locations as x and y in the plane z = 0, exactly, and `f`, `l` or `p` in the
/// pattern's order.
pub(crate) fn obj(request: &Request, pattern: &Pattern) -> String {
    let Request { domain, partitioning, topology, .. } = request;
    let mut text = format!("# {domain}, {partitioning}, {topology}: x is U and y is V\n");
    for location in &pattern.fixed16 {
        let [u, v] = location.map(|value| f64::from(value) / 65536.0);
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(text, "v {u} {v} 0");
    }
    let keyword = match topology {
        OutputTopology::Point => "p",
        OutputTopology::Line => "l",
        OutputTopology::TriangleCw | OutputTopology::TriangleCcw => "f",
    };
    for primitive in pattern.indices.chunks_exact(topology.vertices_per_primitive() as usize) {
        text.push_str(keyword);
        for index in primitive {
            let _ = write!(text, " {}", u64::from(*index) + 1);
        }
        text.push('\n');
    }
    text
}

/// Where the domain lies on the page.
struct Page {
    domain: Domain,
}

impl Page {
    fn place(&self, u: f64, v: f64) -> At {
        // The triangle stands on V's corner, so that U points right, V down, and clockwise stays clockwise.
        let (x, y) = if self.domain == Domain::Tri { (u + v / 2.0, v * TRI_HEIGHT) } else { (u, v) };
        [MARGIN + x * SIDE, MARGIN + y * SIDE]
    }

    fn corners(&self) -> &'static [(f64, f64)] {
        match self.domain {
            Domain::Tri => &[(0.0, 1.0), (0.0, 0.0), (1.0, 0.0)],
            Domain::Quad | Domain::Isoline => &[(0.0, 1.0), (0.0, 0.0), (1.0, 0.0), (1.0, 1.0)],
        }
    }

    fn outline(&self) -> Vec<[At; 2]> {
        let corners: Vec<At> = self.corners().iter().map(|&(u, v)| self.place(u, v)).collect();
        let next = corners.iter().skip(1).chain(corners.first());
        corners.iter().zip(next).map(|(from, to)| [*from, *to]).collect()
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
    fn of(at: &[At], mesh: &[u32]) -> Self {
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

fn triangles(canvas: &mut dyn Canvas, at: &[At], mesh: &[u32], rings: &[usize], scale: &Scale) {
    let mut fills = [Vec::new(), Vec::new()];
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
        fills[usize::from(transition)].push(corners);
        for side in edges(triangle) {
            let (uses, borders) = sides.entry(side).or_default();
            *uses += 1;
            *borders |= !within;
        }
    }
    let mut across = Vec::new();
    let mut along: BTreeMap<usize, Vec<[At; 2]>> = BTreeMap::new();
    for ((a, b), (uses, borders)) in sides {
        let of_ring = rings[a] == rings[b] && (borders || uses == 1);
        let to = if of_ring { along.entry(rings[a]).or_default() } else { &mut across };
        to.push([at[a], at[b]]);
    }
    for (colour, fill) in [REGULAR, TRANSITION].into_iter().zip(&fills) {
        canvas.polygons(colour, fill);
    }
    canvas.lines(ACROSS, scale.line, &across);
    for (ring, lines) in along.iter().rev() {
        canvas.lines(COLOURS[ring % COLOURS.len()], scale.line * 1.7, lines);
    }
}

fn segments(canvas: &mut dyn Canvas, at: &[At], mesh: &[u32], lines: &[usize], scale: &Scale) {
    let mut along: BTreeMap<usize, Vec<[At; 2]>> = BTreeMap::new();
    for pair in mesh.chunks_exact(2) {
        let (a, b) = (pair[0] as usize, pair[1] as usize);
        if let (Some(&from), Some(&to)) = (at.get(a), at.get(b)) {
            along.entry(lines[a]).or_default().push([from, to]);
        }
    }
    for (line, segments) in &along {
        canvas.lines(COLOURS[line % COLOURS.len()], scale.line * 1.7, segments);
    }
}

fn dots(canvas: &mut dyn Canvas, at: &[At], classes: &[usize], scale: &Scale) {
    // Inner ones first: where rings lie on top of each other, the outer edge shows.
    for (number, (&[x, y], &class)) in at.iter().zip(classes).enumerate().rev() {
        let colour = COLOURS[class % COLOURS.len()];
        canvas.dots(colour, scale.dot, &[[x, y]]);
        if scale.numbers {
            let letters = Letters { anchor: Anchor::Start, size: NUMBER, turn: 0.0, colour };
            canvas.letters([x + scale.dot + 2.0, y - scale.dot - 1.0 - NUMBER / 3.0], letters, &number.to_string());
        }
    }
}

fn labels(canvas: &mut dyn Canvas, request: &Request, pattern: &Pattern, page: &Page) {
    let factors: Vec<_> = request.factor_bits.iter().map(|&bits| f32::from_bits(bits)).collect();
    let bottom = page.corners().iter().map(|&(u, v)| page.place(u, v)[1]).fold(0.0, f64::max);
    let (middle, center) = (MARGIN + SIDE / 2.0, MARGIN + SIDE / 2.0);
    // Far enough out to leave the points' numbers their room.
    let (left, right) = (MARGIN - 34.0, MARGIN + SIDE + 40.0);
    let (top, under) = (MARGIN - 34.0, bottom + 34.0);
    let letters = |anchor, turn| Letters { anchor, size: LABEL, turn, colour: INK };
    let mut text = |x: f64, y: f64, turn: f64, words: String| {
        canvas.letters([x, y - LABEL / 3.0], letters(Anchor::Middle, turn), &words);
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
    canvas.letters([MARGIN, bottom + 60.0 - LABEL / 3.0], letters(Anchor::Start, 0.0), &what);
}
